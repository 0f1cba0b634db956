"""A launch with what has been found out about it, for several predictions."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.launch import Launch
from pipeline.timing.sm.code import Code, code
from pipeline.timing.sm.origin import block_axes
from pipeline.timing.sm.trace import Trace, trace


@dataclass(frozen=True, eq=False)
class Traced:
    """A launch with the traces that have been made of it, for several predictions.

    Attributes
    ----------
    launch
        What is launched.
    """

    launch: Launch
    _traces: dict[tuple[int, ...], Trace] = field(default_factory=dict)

    @cached_property
    def code(self) -> Code:
        """The columns of its instructions."""
        return code(self.launch.program)

    @cached_property
    def axes(self) -> NDArray[np.int64]:
        """Axes of the grid along which each access moves."""
        return block_axes(self.launch.program)

    def of(self, blocks: NDArray[np.int64]) -> Trace:
        """Return the traces of some blocks."""
        key = tuple(blocks.tolist())
        if key not in self._traces:
            self._traces[key] = trace(self.launch, blocks)
        return self._traces[key]
