"""Sizes and kernels of the user's own must agree with each other."""

import math
from collections.abc import Iterator, Mapping, Sequence

from pipeline.config.models import Counting
from pipeline.config.own_entry import OwnEntry
from pipeline.config.own_kernels import SECTION, own_kernel
from pipeline.config.problem import Problem, key_path, shown
from pipeline.counting.extrapolate import NODES
from pipeline.kernels.own_kernel import extent

LARGEST_ARRAY = 2**26
"""Elements of an input array: 256 MiB of float32."""

SIZES_NEEDED = NODES + 1


def counted_sizes(own: Mapping[str, OwnEntry], settings: Counting) -> Iterator[Problem]:
    """Require that a kernel takes enough of the sizes, and that no tile is cut at them.

    Too few sizes for any kernel are a matter of ``counting.sizes`` alone.
    """
    enough = len(settings.sizes) >= SIZES_NEEDED
    for name, entry in own.items():
        kernel = own_kernel(name, entry)
        fit = [n for n in settings.sizes if kernel.takes(n)]
        if enough and len(fit) < SIZES_NEEDED:
            yield Problem(
                key_path((SECTION, name, "multiple")),
                f"given {entry.multiple}; of counting.sizes the kernel takes {_listed(fit)}, and "
                f"{SIZES_NEEDED} are needed for the polynomial and its check; choose another "
                f"multiple, or add sizes",
            )
        cut = [n for n in fit if kernel.cuts(n)]
        if cut:
            yield Problem(
                key_path((SECTION, name, "tile")),
                f"given {shown(list(entry.tile))}; does not divide the index space at "
                f"counting.sizes {_listed(cut)}, and counts with cut tiles cannot be carried to "
                f"other sizes; choose another tile, or state the multiple that the kernel takes",
            )


def arrays(own: Mapping[str, OwnEntry], settings: Counting) -> Iterator[Problem]:
    """Refuse arrays that would not fit into memory at the largest size that is simulated."""
    largest = max(settings.sizes)
    for name, entry in own.items():
        for array, shape in entry.inputs.items():
            size = math.prod(extent(length, largest) for length in shape)
            if size > LARGEST_ARRAY:
                yield Problem(
                    key_path((SECTION, name, "inputs", array)),
                    f"given {shown(list(shape))}; has {size} elements at n = {largest}, the "
                    f"largest of counting.sizes; at most {LARGEST_ARRAY} are simulated",
                )


def steps(own: Mapping[str, OwnEntry], counted: Counting) -> dict[str, int]:
    """Step between the sizes at which each kernel is simulated; 0 if there are none."""
    return {
        f"{SECTION}.{name}": math.gcd(*(n for n in counted.sizes if n % entry.multiple == 0))
        for name, entry in own.items()
    }


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(str(size) for size in sizes) or "none"
