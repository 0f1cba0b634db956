"""What settings of the decode step must agree with each other and with the data."""

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from pipeline.config.decode import Decode, Timeline
from pipeline.config.lecture11 import Lecture11
from pipeline.config.problem import (
    Problem,
    from_pydantic,
    nearest,
    require_one_of,
    require_sheet,
    shown,
)
from pipeline.decode.step_times import BASE


def models(settings: Decode, there: Sequence[str]) -> Iterator[Problem]:
    """Require a sheet for every model."""
    for position, name in enumerate(settings.models):
        yield from require_sheet(f"decode.models[{position}]", name, "data/models", there)


def plans(settings: Decode, there: Sequence[str]) -> Iterator[Problem]:
    """Require a sheet for every fusion plan."""
    named = {"decode.ledger_plan": settings.ledger_plan} | {
        f"decode.executions.{id_}.plan": one.plan for id_, one in settings.executions.items()
    }
    for path, name in named.items():
        yield from require_sheet(path, name, "data/fusion_plans", there)


def launch_gpu(settings: Decode, sheets: Sequence[str]) -> Iterator[Problem]:
    """Require a sheet for the GPU whose launch costs stand for others."""
    yield from require_sheet("decode.launch_gpu", settings.launch_gpu, "data/gpus", sheets)


def sensitivity(settings: Decode) -> Iterator[Problem]:
    """Require changes of assumptions that there are, to values that these can have."""
    assumed = settings.timeline.model_dump()
    for id_, variant in settings.sensitivity.items():
        path = f"decode.sensitivity.{id_}"
        if id_ == BASE:
            yield Problem(path, f"{BASE} is the variant that changes nothing; choose another name")
        if variant.parameter not in assumed:
            yield Problem(
                f"{path}.parameter",
                f"given {shown(variant.parameter)}; must be a key of decode.timeline; "
                f"{nearest(variant.parameter, tuple(assumed))}",
            )
        elif assumed[variant.parameter] == variant.value:
            yield Problem(
                f"{path}.value",
                f"given {variant.value:g}; must differ from decode.timeline.{variant.parameter}",
            )
        else:
            yield from _value(path, assumed | {variant.parameter: variant.value})


def predicted_gpus(
    settings: Decode, lecture: Lecture11, gpus: Sequence[str], sheets: Sequence[str]
) -> Iterator[Problem]:
    """Require that the GPUs of waves and figures are among those that are predicted.

    Not while one of those has no sheet: it may be the one that is meant here, misspelt there.
    """
    if not set(gpus) <= set(sheets):
        return
    named = {f"decode.waves.{id_}.gpu": launch.gpu for id_, launch in settings.waves.items()}
    named["lecture11.gpu"] = lecture.gpu
    named |= {
        f"lecture11.shown_gpus[{position}]": gpu for position, gpu in enumerate(lecture.shown_gpus)
    }
    for path, gpu in named.items():
        yield from require_one_of(path, gpu, "gpus", gpus)


def lecture_choice(lecture: Lecture11, settings: Decode) -> Iterator[Problem]:
    """Require that model and executions of the figures are there, and the executions two."""
    yield from require_one_of("lecture11.model", lecture.model, "decode.models", settings.models)
    for name in ("reference", "compared"):
        chosen = getattr(lecture, name)
        yield from require_one_of(
            f"lecture11.{name}", chosen, "decode.executions", tuple(settings.executions)
        )
    if lecture.reference == lecture.compared:
        yield Problem(
            "lecture11.compared",
            f"given {shown(lecture.compared)}; must differ from lecture11.reference",
        )


def _value(path: str, changed: dict[str, float]) -> Iterator[Problem]:
    try:
        Timeline.model_validate(changed)
    except ValidationError as error:
        for problem in from_pydantic(error, (), Timeline):
            yield Problem(f"{path}.value", problem.message)
