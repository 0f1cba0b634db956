"""Generators of accesses: what a warp, or all threads of a launch, may do."""

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

WARP = 32
ACCESS_BYTES = (1, 2, 4, 8, 16)


@st.composite
def warps(draw: st.DrawFn, access_bytes: int = 4, slots: int = 64) -> tuple[NDArray, NDArray]:
    """Addresses and activity of one warp, (1, 32) each; addresses are aligned to the access.

    Lanes draw from few places, so that equal addresses and full banks are common.
    """
    spread = draw(st.sampled_from([1, 2, slots // 8, slots]))
    slot = draw(st.lists(st.integers(0, spread - 1), min_size=WARP, max_size=WARP))
    stride = draw(st.sampled_from([1, 1, 2, 3, 8, 32]))
    active = draw(
        st.one_of(st.just([True] * WARP), st.lists(st.booleans(), min_size=WARP, max_size=WARP))
    )
    address = np.array([slot], np.int64) * stride * access_bytes
    return address, np.array([active])


@dataclass(frozen=True)
class Step:
    """One instruction of a random program.

    Every thread holds one value. Stores, atomics, shuffles and votes take it; loads, atomics and
    shuffles replace it.

    Attributes
    ----------
    kind
        The method of ``Block``; an atomic on shared memory has an ``s`` in front.
    start
        First element per thread, (blocks, threads), a multiple of ``width``; or None if it is
        ``const + by_block * block + thread pattern``, kept apart.
    const, by_block, stride, modulus
        Parts of an index that is a sum: ``const + by_block * bx + tid * stride % modulus``, in
        units of ``width``.
    outer, active
        Masks of two branches, one in the other, broadcastable to (blocks, threads); or None for
        everybody.
    width, repeat, step
        As in ``Block.load``; ``step`` in units of ``width``.
    lane
        Lane or distance of a shuffle, a number or broadcastable to (blocks, threads).
    least
        A vote asks whether the value held is at least this.
    pending
        Groups of copies that a wait leaves under way.
    """

    kind: str
    start: NDArray | None
    const: int
    by_block: int
    stride: int
    modulus: int
    outer: NDArray | None
    active: NDArray | None
    width: int
    repeat: int
    step: int
    lane: NDArray | int = 0
    least: int = 0
    pending: int = 0


@dataclass(frozen=True)
class Program:
    """A launch: sizes, element type, instructions.

    Attributes
    ----------
    grid, block
        Blocks per grid and threads per block along x, y and z.
    dtype
        Numpy's name of the element type.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dtype: str
    steps: tuple[Step, ...]

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        return math.prod(self.block)

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize


SLOTS = 40
"""Start positions (in units of the width) that a random program uses; repeats go beyond."""

MEMORY = ("load", "store", "sload", "sload", "sstore", "sstore")
WARPS = ("shfl_idx", "shfl_up", "shfl_down", "shfl_xor", "ballot", "vote_any", "vote_all")
COPIES = ("copy_async", "commit", "wait")
DTYPES = ("u1", "f2", "i4", "u4", "f4", "i8", "u8", "f8")
GRIDS = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 3, 1), (2, 1, 2))
BLOCKS = ((1, 1, 1), (31, 1, 1), (32, 1, 1), (11, 3, 1), (8, 4, 2), (7, 5, 2))


def kinds(dtype: str) -> list[str]:
    """What an element type allows."""
    allowed = [*MEMORY, *WARPS, *COPIES, "sync", "sync"]
    operations = {"f": ["add"], "i": ["add", "max", "min"], "u": ["add", "max", "min"]}[dtype[0]]
    if dtype != "u1":
        allowed += [f"{s}atomic_{name}" for s in ("", "s") for name in operations]
    return allowed


def _per_thread(
    draw: st.DrawFn, blocks: int, threads: int, rng: np.random.Generator, below: int
) -> NDArray:
    shape = (draw(st.sampled_from([1, blocks])), draw(st.sampled_from([1, threads])))
    return rng.integers(0, below, shape)


def _widths(kind: str, itemsize: int) -> list[int]:
    if kind == "copy_async":
        return [w for w in (1, 2, 4, 8, 16) if w * itemsize in (4, 8, 16)]
    return [w for w in (1, 2, 4, 8, 16) if w * itemsize <= 16] if kind in MEMORY else [1]


@st.composite
def _steps(draw: st.DrawFn, blocks: int, threads: int, dtype: str) -> Step:
    kind = draw(st.sampled_from(kinds(dtype)))
    width = draw(st.sampled_from(_widths(kind, np.dtype(dtype).itemsize)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    start, lane = None, draw(st.integers(0, 31))
    if draw(st.booleans()):
        start = _per_thread(draw, blocks, threads, rng, SLOTS) * width
    masks = [None, None]
    for i in range(0 if kind in ("commit", "wait") else 2):
        if draw(st.booleans()):
            drawn = _per_thread(draw, blocks, threads, rng, 10)
            masks[i] = drawn < draw(st.sampled_from([1, 5, 9]))
    if draw(st.booleans()):
        lane = _per_thread(draw, blocks, threads, rng, 32)
    reads = kind in ("load", "sload")
    return Step(
        kind=kind,
        start=start,
        const=draw(st.integers(0, 3)),
        by_block=draw(st.sampled_from([0, 0, 1, 4])),
        stride=draw(st.sampled_from([0, 1, 2, 7])),
        modulus=draw(st.integers(1, SLOTS // 2)),
        outer=masks[0],
        active=masks[1],
        width=width,
        repeat=draw(st.integers(1, 3)) if reads else 1,
        step=draw(st.integers(1, 4)),
        lane=lane,
        least=draw(st.integers(0, 9)),
        pending=draw(st.integers(0, 1)),
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random launches of a few blocks with a few instructions."""
    grid, block = draw(st.sampled_from(GRIDS)), draw(st.sampled_from(BLOCKS))
    dtype = draw(st.sampled_from(DTYPES))
    step = _steps(math.prod(grid), math.prod(block), dtype)
    return Program(grid, block, dtype, tuple(draw(st.lists(step, min_size=1, max_size=10))))
