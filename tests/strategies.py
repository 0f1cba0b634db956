"""Generators of accesses: what a warp, or all threads of a launch, may do."""

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

    Attributes
    ----------
    kind
        load, store, sload, sstore or sync.
    start
        First element per thread, (blocks, threads), a multiple of ``width``; or None if it is
        ``const + by_block * block + thread pattern``, kept apart.
    const, by_block, stride, modulus
        Parts of an index that is a sum: ``const + by_block * bx + tid * stride % modulus``, in
        units of ``width``.
    active
        Mask, broadcastable to (blocks, threads); or None for everybody.
    width, repeat, step
        As in ``Block.load``; ``step`` in units of ``width``.
    """

    kind: str
    start: NDArray | None
    const: int
    by_block: int
    stride: int
    modulus: int
    active: NDArray | None
    width: int
    repeat: int
    step: int


@dataclass(frozen=True)
class Program:
    """A launch: sizes, element type, instructions."""

    blocks: int
    threads: int
    itemsize: int
    steps: tuple[Step, ...]


SLOTS = 40
"""Start positions (in units of the width) that a random program uses; repeats go beyond."""


@st.composite
def _steps(draw: st.DrawFn, blocks: int, threads: int, itemsize: int) -> Step:
    kind = draw(st.sampled_from(["load", "store", "sload", "sstore", "sstore", "sload", "sync"]))
    width = draw(st.sampled_from([w for w in (1, 2, 4) if w * itemsize <= 16]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    start = None
    if draw(st.booleans()):
        shape = (draw(st.sampled_from([1, blocks])), draw(st.sampled_from([1, threads])))
        start = rng.integers(0, SLOTS, shape) * width
    active = None
    if draw(st.booleans()):
        shape = (draw(st.sampled_from([1, blocks])), draw(st.sampled_from([1, threads])))
        active = rng.random(shape) < draw(st.sampled_from([0.1, 0.5, 0.9]))
    reads = kind in ("load", "sload")
    return Step(
        kind=kind,
        start=start,
        const=draw(st.integers(0, 3)),
        by_block=draw(st.sampled_from([0, 0, 1, 4])),
        stride=draw(st.sampled_from([0, 1, 2, 7])),
        modulus=draw(st.integers(1, SLOTS // 2)),
        active=active,
        width=width,
        repeat=draw(st.integers(1, 3)) if reads else 1,
        step=draw(st.integers(1, 4)),
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random launches of a few blocks with a few instructions."""
    blocks = draw(st.integers(1, 3))
    threads = draw(st.sampled_from([1, 31, 32, 33, 64, 70]))
    itemsize = draw(st.sampled_from([1, 2, 4, 4, 8]))
    steps = draw(st.lists(_steps(blocks, threads, itemsize), min_size=1, max_size=8))
    return Program(blocks, threads, itemsize, tuple(steps))
