"""What the compiled replay counts."""

from pipeline.timing.sm.memory import (
    PIPES,
    TRAFFIC,
    Places,
    Words,
)  # fmt: skip
from pipeline.timing.sm.numbers import inlined


@inlined
def worked(m: Words, at: Places, span: int, pipe: int, parts: int) -> None:
    """Count work of a pipe."""
    m[at.work + span * PIPES + pipe] += parts


@inlined
def moved(m: Words, at: Places, span: int, what: int, sectors: int) -> None:
    """Count sectors."""
    m[at.traffic + span * TRAFFIC + what] += sectors
