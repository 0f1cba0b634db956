"""The instructions of tensor cores: matrices from shared memory to registers, and their product."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt.batch import Index
from pipeline.simt.masks import WARP
from pipeline.simt.memory import SharedArray
from pipeline.simt.source import source
from pipeline.simt.values import MMA
from pipeline.simt.warp_instructions import WarpInstructions
from pipeline.tensor_core.fragments import PIECE_ROWS, coordinates
from pipeline.tensor_core.ldmatrix import PIECES

MULTIPLY_ADDS = MMA.m * MMA.n * MMA.k
"""Multiply-adds of a warp's ``mma``."""

CAPABILITY = {"mma_instr": 80, "ldmatrix_instr": 75}
"""Counter -> lowest compute capability (ten times major plus minor) that has its instruction.

PTX ISA, Target ISA Notes of mma (``.m16n8k16`` of ``.f16``: sm_80) and of ldmatrix (sm_75).
"""

_HALF_BYTES = 2
_ROW_HALVES = 8


def needed_capability(counters: Mapping[str, int]) -> int:
    """Return the lowest compute capability, see :data:`CAPABILITY`, for what was counted.

    >>> needed_capability({"mma_instr": 0, "ldmatrix_instr": 4})
    75
    """
    return max((least for name, least in CAPABILITY.items() if counters[name]), default=0)


class MatrixInstructions(WarpInstructions):
    """:class:`WarpInstructions` with ``ldmatrix`` and ``mma``, which whole warps execute."""

    def ldmatrix(
        self, array: SharedArray, index: Index, count: int = 4, trans: bool = False
    ) -> NDArray[Any]:
        """Read 8 x 8 matrices of 16-bit elements into fragments (``ldmatrix``).

        Parameters
        ----------
        array
            Shared array of 16-bit elements.
        index
            First element of a row per thread, a multiple of 8: lane 8 j + i names row i of matrix
            j. What lanes beyond 8 ``count`` name is not looked at.
        count
            1, 2 or 4 matrices.
        trans
            Whether each matrix comes transposed (``.trans``).

        Returns
        -------
        (block, thread, 2 * count)
            Of each matrix two elements side by side in row ``lane // 4``, from column
            ``2 * (lane % 4)`` on; of the transposed matrix with ``trans``. Zeros in warps that do
            not take part.

        Raises
        ------
        LaunchError
            If the array is not of that kind, or a warp does not take part as a whole.
        OutOfRangeError, MisalignedError
            If a row is not inside the array, or does not start at a multiple of 8 elements.
        """
        if not isinstance(array, SharedArray) or array.flat.itemsize != _HALF_BYTES:
            given = getattr(getattr(array, "flat", None), "dtype", type(array).__name__)
            raise LaunchError(
                f"{source()}: ldmatrix from {getattr(array, 'name', 'an object')} of {given}; "
                f"allowed are shared arrays of 16-bit elements"
            )
        if type(count) is not int or count not in PIECES:
            raise LaunchError(f"{source()}: ldmatrix of {count!r} matrices; allowed are 1, 2 and 4")
        self._require_whole_warps("ldmatrix")
        access = self._access(index, array, _ROW_HALVES)
        if PIECE_ROWS * count < WARP:
            names_a_row = np.arange(self.n_threads) % WARP < PIECE_ROWS * count
            access = access._replace(active=access.active & names_a_row)
        values = self._read_matrices(array, access, count, bool(trans))
        self._accounting.matrix_load(access, array, self._blocks, self._mask.lanes)
        return values

    def mma(self, a: Any, b: Any, total: NDArray[Any]) -> None:
        """Add the product of every fragment of A and B to a fragment of C, in place (``mma``).

        The shape is m16n8k16, of halves with sums in single precision. Each product of two
        fragments is one instruction of the warp.

        Parameters
        ----------
        a : (block, thread, 8) or (block, thread, p, 8), float16
            16 x 16 matrices, as :meth:`ldmatrix` of 4 gives them.
        b : (block, thread, 4) or (block, thread, q, 4), float16
            16 x 8 matrices: ``ldmatrix`` of 2 gives one, with ``trans`` where rows in memory run
            along N.
        total : (block, thread, 4), or with axes p and q before the last
            Accumulators, 16 x 8 matrices of float32 from :meth:`zeros`.

        Raises
        ------
        LaunchError
            If a fragment or the accumulators have another shape or type, or a warp does not take
            part as a whole.
        """
        self._require_whole_warps("mma")
        left, right = (
            self._fragments(name, value, coordinates(MMA, name).shape[1])
            for name, value in (("A", a), ("B", b))
        )
        expected = (*left.shape[:-1], *right.shape[2:-1], coordinates(MMA, "C").shape[1])
        kind = getattr(total, "dtype", type(total).__name__)
        if kind != np.float32 or total.shape != expected or not total.flags.c_contiguous:
            raise LaunchError(
                f"{source()}: mma of fragments {left.shape} and {right.shape} needs accumulators "
                f"of float32 of shape {expected} made by zeros(); got {kind} "
                f"{np.shape(total)}"
            )
        times = int(np.prod(expected[2:-1], dtype=np.int64))
        self._accounting.mma(self._mask.warps, self._mask.lanes, times, MULTIPLY_ADDS)
        self._multiply_matrices(left, right, total)

    def _require_whole_warps(self, name: str) -> None:
        """Refuse an instruction that some lanes of a warp would not execute."""
        if self.n_threads % WARP:
            raise LaunchError(
                f"{source()}: {name} in blocks of {self.n_threads} threads; all 32 lanes of a warp "
                f"execute it together, so a block needs a multiple of 32"
            )
        lanes = self._mask.active.reshape(-1, WARP)
        if not self._mask.is_full and (lanes.any(axis=1) != lanes.all(axis=1)).any():
            raise LaunchError(
                f"{source()}: {name} in a branch that only some lanes of a warp take; all 32 "
                f"execute it together, so branch by warps, or move it out"
            )

    def _fragments(self, operand: str, value: Any, elements: int) -> NDArray[Any]:
        """Check the fragments of A or B: (block, thread, any number of them, elements)."""
        shape, kind = np.shape(value), getattr(value, "dtype", type(value).__name__)
        if kind != np.float16:
            raise LaunchError(
                f"{source()}: mma with fragments of {operand} of {kind}; allowed is float16"
            )
        if len(shape) not in (3, 4) or shape[-1] != elements or not self._is_per_thread(value):
            raise LaunchError(
                f"{source()}: mma with fragments of {operand} of shape {shape}; each thread holds "
                f"{elements} elements of one, so the shape is (blocks, threads, {elements}) or "
                f"(blocks, threads, number of fragments, {elements}) with (blocks, threads) = "
                f"{(self.n_blocks, self.n_threads)}"
            )
        return np.asanyarray(value)
