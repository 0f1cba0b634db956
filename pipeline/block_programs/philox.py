"""Random numbers from a counter: Philox-4x32 and 4x64, as Triton seeds and scales them.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011: multipliers,
key increments and rounds. Offset and zeros are the counter, the seed is the key.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes
from pipeline.block_programs.arithmetic import cast
from pipeline.block_programs.block import Block
from pipeline.block_programs.functions import umulhi
from pipeline.block_programs.source import refusal

Array = NDArray[Any]

ROUNDS = 10

# Multipliers and key increments for words of 32 and of 64 bits.
_WORDS = {
    32: ((0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)),
    64: ((0xD2E7470EE14C6C93, 0xCA5A826395121157), (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)),
}


def scrambled(
    counter: tuple[Block, Block, Block, Block], key: tuple[Block, Block], rounds: int
) -> tuple[Block, Block, Block, Block]:
    """Run the rounds of Philox on four words of one unsigned type.

    Parameters
    ----------
    counter, key
        Words of uint32, or all of uint64.
    rounds
        How many; ten are usual.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = (word.data for word in key)
    bits = c0.dtype.primitive_bitwidth
    (a, b), (step0, step1) = (
        tuple(c0.data.dtype.type(word) for word in pair) for pair in _WORDS[bits]
    )
    words = [c0.data, c1.data, c2.data, c3.data]
    for _ in range(rounds):
        high_a, high_b = (
            umulhi(c0.like(word, c0.dtype), c0.like(np.array([factor]), c0.dtype)).data
            for word, factor in ((words[0], a), (words[2], b))
        )
        words = [high_b ^ words[1] ^ k0, words[2] * b, high_a ^ words[3] ^ k1, words[0] * a]
        k0, k1 = k0 + step0, k1 + step1
    first, second, third, fourth = (c0.like(word, c0.dtype) for word in words)
    return first, second, third, fourth


def philox(
    seed: Block, words: tuple[Block, Block, Block, Block], rounds: int
) -> tuple[Block, Block, Block, Block]:
    """Four random words from a seed and a counter of four words."""
    bits = words[0].dtype.primitive_bitwidth
    if bits not in _WORDS or not seed.dtype.is_int():
        raise refusal(f"philox takes integers of 32 or 64 bits, not {words[0].dtype}")
    wide = cast(seed, dtypes.uint64).data.reshape(-1, *[1] * len(words[0].shape))
    dtype = dtypes.uint32 if bits == 32 else dtypes.uint64
    if bits == 32:
        keys = (wide.astype(np.uint32), (wide >> np.uint64(32)).astype(np.uint32))
    else:
        keys = (wide, np.zeros_like(wide))
    first, second = (seed.like(key, dtype) for key in keys)
    c0, c1, c2, c3 = (cast(word, dtype, bitcast=True) for word in words)
    return scrambled((c0, c1, c2, c3), (first, second), rounds)


def words(seed: Block, offset: Block, rounds: int) -> tuple[Block, Block, Block, Block]:
    """Four random uint32 for every offset, as ``randint4x``; offsets of 64 bits fill two words."""
    low = cast(offset, dtypes.uint32)
    zero = low.like(np.zeros_like(low.data), dtypes.uint32)
    high = zero
    if offset.dtype.primitive_bitwidth > 32:
        high = cast(offset.like(offset.data >> 32, offset.dtype), dtypes.uint32)
    return philox(seed, (low, high, zero, zero), rounds)


def uniform(word: Block) -> Block:
    """Give a float32 from 0 to below 1 for every word; negative ones are turned over."""
    bits = word.dtype.primitive_bitwidth
    signed = word.data.view(np.dtype(f"int{bits}"))
    # The largest factor for which no word gives 1, with float32 rounding.
    scale = np.float32(4.6566127342e-10 if bits == 32 else 1.0842020432385337e-19)
    positive = np.where(signed < 0, ~signed, signed)
    return word.like(positive.astype(np.float32) * scale, dtypes.float32)


def normal(one: Block, two: Block) -> tuple[Block, Block]:
    """Two independent normal numbers from two uniform ones (Box and Muller)."""
    radius = np.sqrt(np.float32(-2.0) * np.log(np.fmax(np.float32(1.0e-7), one.data)))
    angle = np.float32(6.283185307179586) * two.data
    return (
        one.like(radius * np.cos(angle), dtypes.float32),
        one.like(radius * np.sin(angle), dtypes.float32),
    )
