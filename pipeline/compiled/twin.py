"""How the CUDA twins of the ladder are launched, in plain values: their kernels are not needed."""

import math
from dataclasses import dataclass

from pipeline.compiled.decode import Program
from pipeline.compiled.launch import Launch, Space, prepare

_FLOAT_BYTES = 4
_ALPHA, _BETA = 0.5, 3.0
"""Any two numbers; addresses do not depend on them."""


@dataclass(frozen=True)
class Twin:
    """How the CUDA twin of a kernel is launched, with the options that it is compiled with.

    Attributes
    ----------
    kernel, number, label
        Identity of the kernel of the ladder.
    block, tile, multiple, registers
        As in :class:`pipeline.kernels.kernel.Launch`; registers as the lecture assumes.
    element_bytes
        Size of an element of A and B (B); C has single precision.
    """

    kernel: str
    number: int
    label: str
    block: tuple[int, int, int]
    tile: tuple[int, int]
    multiple: tuple[int, int, int]
    registers: int
    element_bytes: int

    def takes(self, n: int) -> bool:
        """Say whether it takes n by n matrices."""
        return all(n % step == 0 for step in self.multiple)

    def next_size(self, n: int) -> int:
        """Return n, or the next larger size of n by n matrices that it takes."""
        step = math.lcm(*self.multiple)
        return -(-n // step) * step


def square_product(program: Program, launched: Twin, n: int) -> Launch:
    """Return the launch of a kernel of the ladder on n by n matrices, without values.

    Raises
    ------
    LaunchError
        If the compiled kernel does not take what its twin in Python does.
    """
    rows, cols = launched.tile
    grid = (-(-n // rows), -(-n // cols))
    return prepare(program, grid, launched.block, (*_arrays(launched, n), n, n, n))


def published_product(program: Program, launched: Twin, n: int) -> Launch:
    """Return the launch of published code (``kernels/published.cu``) on n by n matrices.

    Its blocks count along a row of C first, and C is scaled and added to.

    Raises
    ------
    LaunchError
        If the compiled kernel does not take what is published.
    """
    rows, cols = launched.tile
    a, b, c = _arrays(launched, n)
    arguments = (n, n, n, _ALPHA, a, b, _BETA, c)
    return prepare(program, (-(-n // cols), -(-n // rows)), launched.block, arguments)


def _arrays(launched: Twin, n: int) -> tuple[Space, Space, Space]:
    factor = launched.element_bytes * n * n
    # Another object each: one passed twice is one array.
    return Space(factor), Space(factor), Space(_FLOAT_BYTES * n * n)
