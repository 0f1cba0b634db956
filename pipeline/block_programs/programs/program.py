"""What a program of the collection declares about itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs.launch import Launched

Array = NDArray[Any]


@dataclass(frozen=True)
class Tiles:
    """Sizes of the blocks that the collection works with; all are powers of two.

    Attributes
    ----------
    block
        Elements that a program handles where elements are independent.
    tile_m, tile_n, tile_k
        Rows, columns and depth of the tiles of a product.
    group
        Rows of tiles that programs of a product go through together.
    query_rows, key_rows
        Rows of queries that a program of attention keeps, and of keys that it takes at a time.
    heads, head_size
        Heads of attention, and elements of each.
    """

    block: int
    tile_m: int
    tile_n: int
    tile_k: int
    group: int
    query_rows: int
    key_rows: int
    heads: int
    head_size: int


@dataclass(frozen=True)
class Outcome:
    """A run: what was counted, and what came out beside what should have.

    Attributes
    ----------
    results
        Name -> array as computed, and in float64 by numpy.
    """

    launched: Launched
    results: Mapping[str, tuple[Array, Array]]

    def max_abs_error(self) -> float:
        """Largest difference of any element."""
        pairs = self.results.values()
        return max(float(np.abs(made.astype(np.float64) - right).max()) for made, right in pairs)


@dataclass(frozen=True)
class Program:
    """One program of the collection.

    Attributes
    ----------
    id, label
        Its name in stores, and as shown to readers.
    run
        Makes arrays for size n from a generator of random numbers, and launches.
    expected
        Counters that a launch at size n must show, counted by hand.
    """

    id: str
    label: str
    run: Callable[[int, np.random.Generator, Tiles], Outcome]
    expected: Callable[[int, Tiles], dict[str, int]]


def random(generator: np.random.Generator, *shape: int) -> Array:
    """Draw standard normal numbers, as float32."""
    return generator.standard_normal(shape, np.float32)


def sectors(elements: int, size: int) -> int:
    """Sectors of 32 bytes that consecutive elements fill, the first at the start of one."""
    return -(-elements * size // 32)
