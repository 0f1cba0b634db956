"""What ``config/config.yaml`` may hold about replays of machine code on one SM."""

from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.config.section import Section, Sizes, Whole, each_once, setting
from pipeline.timing.sm.mechanisms import NAMES

LARGEST_N = 65536
"""As for ``extrapolation.sizes``."""

LARGEST_CYCLES = 20_000
"""Longer spans make traces that no viewer opens with pleasure."""

LATEST_CYCLE = 1_000_000


def _mechanisms(value: object) -> tuple[str, ...]:
    """Accept ``all``, or names of mechanisms."""
    if value == "all":
        return NAMES
    names = tuple(value) if isinstance(value, list | tuple) else (value,)
    wrong = [one for one in names if one not in NAMES]
    if wrong or not names:
        raise PydanticCustomError(
            "mechanisms",
            "must be all, or a list of {known}; {wrong} is none",
            {"known": ", ".join(NAMES), "wrong": repr(wrong[0]) if wrong else "nothing"},
        )
    return tuple(str(one) for one in each_once(names))


class Replay(Section):
    """Machine code of the ladder, replayed cycle by cycle on one SM."""

    sizes: Sizes[Annotated[Whole, Field(ge=1, le=LARGEST_N)]] = setting(
        "Sizes n of the square matrices for which every kernel is replayed on every GPU.",
        "elements",
        f"list of 1 to {LARGEST_N}, lecture10.large_n among them",
    )
    left_out: Annotated[tuple[str, ...], BeforeValidator(_mechanisms)] = setting(
        "Mechanisms that are left out in turn, to see which matter for which kernel.",
        "1",
        f"all, or a list of {', '.join(NAMES)}",
    )
    first_cycle: Annotated[Whole, Field(ge=0, le=LATEST_CYCLE)] = setting(
        "Cycle at which figures and traces begin; by then kernels are in their main loop.",
        "cycles",
        f"0 to {LATEST_CYCLE}",
    )
    cycles: Annotated[Whole, Field(ge=1, le=LARGEST_CYCLES)] = setting(
        "Cycles that are kept from there on, for all warps of the SM.",
        "cycles",
        f"1 to {LARGEST_CYCLES}",
    )
