"""A kernel of the user's own: how it is launched, and on what arrays."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SIZE = "n"
"""The problem size, as it stands in a product such as ``n*n``."""


def extent(product: str, n: int) -> int:
    """Evaluate a length that may depend on the problem size.

    >>> extent("n*n", 128), extent("4*n", 128), extent("1", 128)
    (16384, 512, 1)
    """
    return math.prod(n if factor == SIZE else int(factor) for factor in factors(product))


def factors(product: str) -> list[str]:
    """Take a product apart: ``"4*n"`` gives ``["4", "n"]``."""
    return [factor.strip() for factor in product.split("*")]


@dataclass(frozen=True)
class OwnKernel:
    """What a launch of a user's kernel needs besides the function.

    Attributes
    ----------
    id
        Identity in stores and messages.
    file, kernel, specification
        Where the functions are: path, name of the kernel, name of its specification.
    inputs
        Parameter of the specification -> lengths of that array, each a product of ``n`` and whole
        numbers.
    options
        Further arguments of the kernel, by name.
    block
        Threads per block along x, y and z.
    space
        Lengths of the index space that the blocks cover, along x, y and z.
    tile
        Part of the index space that one block covers.
    multiple
        Sizes n that the kernel takes are multiples of this.
    tolerance
        Largest difference from the specification, as a share of its largest value.
    """

    id: str
    file: str
    kernel: str
    specification: str
    inputs: Mapping[str, tuple[str, ...]]
    options: Mapping[str, Any]
    block: tuple[int, ...]
    space: tuple[str, ...]
    tile: tuple[int, ...]
    multiple: int
    tolerance: float

    def takes(self, n: int) -> bool:
        """Whether the kernel says that it takes this size."""
        return n % self.multiple == 0

    def grid(self, n: int) -> tuple[int, ...]:
        """Blocks along x, y and z that cover the index space."""
        lengths = (extent(length, n) for length in self.space)
        return tuple(-(-length // part) for length, part in zip(lengths, self.tile, strict=True))

    def cuts(self, n: int) -> bool:
        """Whether blocks at the end of an axis reach beyond an index space that grows with n."""
        return any(
            SIZE in factors(length) and extent(length, n) % part
            for length, part in zip(self.space, self.tile, strict=True)
        )

    def shape(self, name: str, n: int) -> tuple[int, ...]:
        """Lengths of an input array."""
        return tuple(extent(length, n) for length in self.inputs[name])
