"""What settings of the megakernel must agree with the ways to run a step."""

from collections.abc import Iterator

from pipeline.config.decode import Decode
from pipeline.config.megakernel import Megakernel
from pipeline.config.problem import Problem, require_one_of, shown
from pipeline.vocab.decode_spans import INSTRUCTIONS

_LAUNCHES = {"execution": "megakernel", "kernels": "graphs"}


def executions(settings: Megakernel, decode: Decode) -> Iterator[Problem]:
    """Require executions that are there and launched as they must be."""
    for name, launch in _LAUNCHES.items():
        path, chosen = f"megakernel.{name}", getattr(settings, name)
        yield from require_one_of(path, chosen, "decode.executions", tuple(decode.executions))
        if chosen in decode.executions and decode.executions[chosen].launch != launch:
            yield Problem(
                path,
                f"given {shown(chosen)}, which has launch {decode.executions[chosen].launch}; "
                f"must be an execution with launch {launch}",
            )


def names(decode: Decode) -> Iterator[Problem]:
    """Keep the name of the timeline that is made of instructions."""
    if INSTRUCTIONS in decode.executions:
        yield Problem(
            f"decode.executions.{INSTRUCTIONS}",
            "stands for the megakernel instruction by instruction; choose another name",
        )
