"""The matrix shapes of tensor-core instructions.

``mma.sync`` multiplies a 16 x k matrix A by a k x 8 matrix B with the 32 lanes of a warp.
``wgmma`` of compute capability 9.0 multiplies 64 x 16 by 16 x n with the 128 threads of four warps
and reads B, and as a rule A, from shared memory.
"""

import re
from dataclasses import dataclass

from pipeline.errors import ModelError

REGISTER_BITS = 32
WARP = 32

# Rows that one warp has of A, B's columns and C.
WARP_ROWS = 16
WGMMA_ROWS = 64
WGMMA_COLUMNS = range(8, 257, 8)

OPERANDS = ("A", "B", "C")
"""C stands for D as well: sums go in and come out in one layout."""

_FP8 = ("fp8_e4m3", "fp8_e5m2")
_INT8 = ("int8", "uint8")


@dataclass(frozen=True)
class Shape:
    """One shape of a tensor-core instruction.

    Attributes
    ----------
    name
        As PTX writes it; with the element type behind it where PTX has the shape for several
        widths.
    m, n, k
        A is m x k, B is k x n, C and D are m x n.
    element_bits
        Bits of an element of A and B; C and D have 32.
    types
        Element types of A and B, see :mod:`pipeline.tensor_core.element_types`.
    operands
        Those that lie in registers.
    """

    name: str
    m: int
    n: int
    k: int
    element_bits: int
    types: tuple[str, ...]
    operands: tuple[str, ...] = OPERANDS

    @property
    def lanes(self) -> int:
        """Threads that work together: 32, or 128 for wgmma."""
        return WARP * (self.m // WARP_ROWS)

    @property
    def per_register(self) -> int:
        """Elements of A or B in a register of 32 bits."""
        return REGISTER_BITS // self.element_bits

    def extent(self, operand: str) -> tuple[int, int]:
        """Rows and columns of an operand, in registers or not."""
        self._require_known(operand)
        return {"A": (self.m, self.k), "B": (self.k, self.n), "C": (self.m, self.n)}[operand]

    def require(self, operand: str) -> None:
        """Refuse an operand that lies in no registers.

        Raises
        ------
        ModelError
            If there is no such operand, or the instruction reads it from shared memory.
        """
        self._require_known(operand)
        if operand not in self.operands:
            raise ModelError(
                f"{self.name}: {operand} is read from shared memory, so no lane holds it; in "
                f"registers are {', '.join(self.operands)}"
            )

    def _require_known(self, operand: str) -> None:
        if operand not in OPERANDS:
            raise ModelError(
                f"{self.name}: there is no operand {operand!r}; allowed are "
                f"{', '.join(OPERANDS)} (C stands for D as well)"
            )


MMA_SHAPES = {
    shape.name: shape
    for shape in (
        Shape("m16n8k4", 16, 8, 4, 32, ("tf32",)),
        Shape("m16n8k8", 16, 8, 8, 16, ("fp16", "bf16")),
        Shape("m16n8k8_tf32", 16, 8, 8, 32, ("tf32",)),
        Shape("m16n8k16", 16, 8, 16, 16, ("fp16", "bf16")),
        Shape("m16n8k16_int8", 16, 8, 16, 8, _INT8),
        Shape("m16n8k32", 16, 8, 32, 8, (*_INT8, *_FP8)),
    )
}
"""Shapes of ``mma.sync`` for elements of 8, 16 and 32 bits (PTX ISA, Matrix fragments)."""

_WGMMA_NAME = re.compile(r"m64n([1-9][0-9]*)k16")


def wgmma(n: int) -> Shape:
    """Shape ``m64nNk16`` of ``wgmma``, 16-bit elements.

    Parameters
    ----------
    n
        Columns of B and C: a multiple of 8 up to 256.

    Raises
    ------
    ModelError
        If there is no such shape.
    """
    if not isinstance(n, int) or n not in WGMMA_COLUMNS:
        raise ModelError(f"wgmma.m64nNk16: given N = {n}; must be a multiple of 8 from 8 to 256")
    operands = ("A", "C")
    return Shape(f"m64n{n}k16", WGMMA_ROWS, n, 16, 16, ("fp16", "bf16"), operands)


def shape_named(name: str) -> Shape:
    """Find a shape by its name: one of :data:`MMA_SHAPES`, or ``m64nNk16``.

    Raises
    ------
    ModelError
        If there is no such shape.
    """
    if name in MMA_SHAPES:
        return MMA_SHAPES[name]
    found = _WGMMA_NAME.fullmatch(str(name))
    if found is None:
        raise ModelError(
            f"there is no shape {name!r}; allowed are {', '.join(MMA_SHAPES)}, and m64nNk16 with "
            f"N a multiple of 8 up to 256"
        )
    return wgmma(int(found[1]))
