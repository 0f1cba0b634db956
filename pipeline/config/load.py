"""From the text of a configuration to settings that can be trusted."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from pipeline.config import checks
from pipeline.config.kernels import choose
from pipeline.config.limits import most_shared
from pipeline.config.models import Config
from pipeline.config.own_cuda import choose_cuda
from pipeline.config.own_kernels import choose_own
from pipeline.config.problem import Problem, from_pydantic, missing, unknown
from pipeline.errors import ConfigError
from pipeline.kernels.kernel import Kernel
from pipeline.kernels.registry import KERNELS
from pipeline.sheets.strict_yaml import DEEPEST, MOST_VALUES
from pipeline.user_file import CHECKOUT

DATA = CHECKOUT / "data"

_MOST_NAMED = 100

ALL = "all"
"""In the place of a list of models: every one that has a sheet."""


def load(
    given: Mapping[str, object],
    *,
    sheets: Sequence[str] | None = None,
    ladder: Mapping[str, Kernel] = KERNELS,
    checkout: Path = CHECKOUT,
) -> Config:
    """Check a configuration, all of it at once.

    Parameters
    ----------
    given
        What ``config/config.yaml`` holds, changed by ``--configfile`` and ``--config``.
    sheets
        Ids of the GPUs that have a sheet; those in ``data/gpus`` if not given.
    ladder
        Every kernel there is, in order.
    checkout
        The project folder; files of the user's own kernels are relative to it.

    Returns
    -------
    Config
        Sizes ascending, kernels in the order of the ladder with the value of every option.

    Raises
    ------
    ConfigError
        Lists everything that is wrong: key path, value, what was allowed, nearest valid name.
    """
    _require_bounded(given)
    models = sheet_ids("models")
    values, problems = _sections(_with_all_models(given, models))
    if "kernels" in values:
        chosen, found = choose(values["kernels"], ladder)
        values |= {"chosen": chosen, "kernels": {id_: one.options for id_, one in chosen.items()}}
        problems += found
    if "own_kernels" in values:
        values["own"], found = choose_own(values["own_kernels"], tuple(ladder), checkout)
        values["own_kernels"] = values["own"]
        problems += found
    if "own_cuda" in values:
        taken = (*ladder, *map(str, values.get("own_kernels", ())))
        values["cuda"], found = choose_cuda(values["own_cuda"], taken, checkout)
        values["own_cuda"] = values["cuda"]
        problems += found
    values["sheets"] = sheet_ids("gpus") if sheets is None else sheets
    values["model_sheets"] = models
    values["plan_sheets"] = sheet_ids("fusion_plans")
    values["most_shared"] = most_shared()
    problems += checks.run(values)
    if problems:
        raise ConfigError(_message(problems))
    return Config.model_construct(**{name: values[name] for name in Config.model_fields})


def _require_bounded(given: Mapping[str, object]) -> None:
    """Refuse what is nested without end, or stands for more values than anybody writes.

    Options of the command line reach the configuration without the checks of its files.
    """
    level: list[Any] = [given]
    for _ in range(DEEPEST):
        groups = (each.values() if isinstance(each, Mapping) else each for each in level)
        inside = chain.from_iterable(groups)
        level = list(islice(filter(_is_group, inside), MOST_VALUES))
        if len(level) == MOST_VALUES:
            break
    if level:
        raise ConfigError(
            f"configuration: is nested more than {DEEPEST} levels deep, or holds more than "
            f"{MOST_VALUES} groups and lists; does a value hold itself?"
        )


def _is_group(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple)


def sheet_ids(folder: str) -> list[str]:
    """Ids of what has a sheet in a folder of ``data``: the names of the files."""
    return sorted(path.stem for path in (DATA / folder).glob("*.yaml"))


def _with_all_models(given: Mapping[str, object], models: Sequence[str]) -> Mapping[str, object]:
    """List the models where the configuration asks for all of them."""
    decode = given.get("decode")
    if not isinstance(decode, Mapping) or decode.get("models") != ALL:
        return given
    return {**given, "decode": {**decode, "models": list(models)}}


def _sections(given: Mapping[str, object]) -> tuple[dict[str, Any], list[Problem]]:
    """Read every section by itself, so that what is right can be checked further."""
    fields = Config.model_fields
    kinds = get_type_hints(Config, include_extras=True)
    problems = [unknown((name,), tuple(fields)) for name in given if name not in fields]
    values = {}
    for name, field in fields.items():
        if name not in given and field.is_required():
            problems.append(missing((name,)))
            continue
        try:
            values[name] = TypeAdapter(kinds[name]).validate_python(given.get(name))
        except ValidationError as error:
            problems += from_pydantic(error, (name,), field.annotation)
    return values, problems


def _message(problems: Sequence[Problem]) -> str:
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    named = [f"  {problem}" for problem in problems[:_MOST_NAMED]]
    if problems[_MOST_NAMED:]:
        named.append(f"  and {len(problems) - _MOST_NAMED} more")
    lines = "\n".join(named)
    return (
        f"configuration: {count} in config/config.yaml, or in what --configfile and --config "
        f"change\n{lines}\nEvery key is explained in config/README.md."
    )
