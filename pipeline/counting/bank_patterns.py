"""Wavefronts of access patterns to shared memory: simple ones, and those of the ladder.

Every pattern is run on the simulator and counted by it. Those of the ladder are taken from the
kernels themselves, with the tiles of the lecture (the defaults of their options).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from pipeline.counting.recorder import WARP, Recorded, record
from pipeline.kernels import (
    k05_blocktile_2d,
    k06_vectorized,
    k07_banks_linearized,
    k08_banks_padded,
)
from pipeline.kernels.kernel import Kernel
from pipeline.simt.banks import RULES
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray
from pipeline.vocab.bank_patterns import BANK_PATTERNS
from pipeline.vocab.variable import annotate
from pipeline.words import message

WIDTHS = (1, 2, 4)
STRIDES = range(2, 33)
FP32_BITS = 32
A, B = "a_tile", "b_tile"


@dataclass(frozen=True)
class Pattern:
    """Accesses that are counted together.

    Attributes
    ----------
    label
        Name as shown to readers.
    kernel
        Kernel of the ladder that it is taken from; None for a load by a single warp.
    options
        Options of the kernel that are not its defaults.
    array, store
        Which accesses of the kernel.
    width, stride
        Of a load by a single warp: words per lane, and from one lane to the next.
    """

    label: str
    kernel: Kernel | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    array: str = A
    store: bool = False
    width: int = 1
    stride: int = 1


NEIGHBOURS = message("neighbours, {bits} bits")
STRIDED = message("every {words} words")
BROADCAST = message("one for all, {bits} bits")


def _simple() -> dict[str, Pattern]:
    """Give the loads by a single warp."""
    bits = {width: width * FP32_BITS for width in WIDTHS}
    contiguous = {
        f"contiguous_{bits[w]}bit": Pattern(NEIGHBOURS.format(bits=bits[w]), width=w, stride=w)
        for w in WIDTHS
    }
    strided = {
        f"stride_{words}": Pattern(STRIDED.format(words=words), stride=words) for words in STRIDES
    }
    broadcast = {
        f"broadcast_{bits[w]}bit": Pattern(BROADCAST.format(bits=bits[w]), width=w, stride=0)
        for w in (min(WIDTHS), max(WIDTHS))
    }
    return contiguous | strided | broadcast


K05, K06 = k05_blocktile_2d.KERNEL, k06_vectorized.KERNEL
K07, K08 = k07_banks_linearized.KERNEL, k08_banks_padded.KERNEL
PATTERNS: Mapping[str, Pattern] = _simple() | {
    "k05_a_read": Pattern(message("k05 reads A"), K05),
    "k05_b_read": Pattern(message("k05 reads B"), K05, array=B),
    "k05_b_read_vec_b": Pattern(message("k05 with vec_b reads B"), K05, {"vec_b": True}, B),
    "k05_a_write": Pattern(message("k05 stores A"), K05, store=True),
    "k05_b_write": Pattern(message("k05 stores B"), K05, array=B, store=True),
    "k06_a_read": Pattern(message("k06 reads A"), K06),
    "k06_b_read": Pattern(message("k06 reads B"), K06, array=B),
    "k06_a_write": Pattern(message("k06 stores A transposed"), K06, store=True),
    "k06_b_write": Pattern(message("k06 stores B"), K06, array=B, store=True),
    "k07_b_read": Pattern(message("k07 reads B rearranged"), K07, array=B),
    "k07_b_write": Pattern(message("k07 stores B rearranged"), K07, array=B, store=True),
    "k08_b_read": Pattern(message("k08 reads B padded"), K08, array=B),
    "k08_b_write": Pattern(message("k08 stores B padded"), K08, array=B, store=True),
}


def bank_patterns(patterns: Mapping[str, Pattern] = PATTERNS) -> xr.Dataset:
    """Count what one warp does in each access pattern.

    Of a kernel: what a warp reads for one step along k, or stores for one tile.

    Returns
    -------
    (pattern,)
        ``instructions``, ``bytes`` that lanes ask for, ``wavefronts`` and ``ideal_wavefronts`` by
        the lecture's rule and, with ``hardware_`` in front, by that of hardware; ``access_bytes``
        per lane and instruction, whether it is a ``store``, the ``kernel`` that it is taken from
        (empty for none) and the ``stride`` (words) of a simple load. Over (pattern, lane): the byte
        ``address`` of each lane in the first instruction.
    """
    rows = [_counted(pattern) for pattern in patterns.values()]
    names = [name for name in rows[0] if name != "address"]
    dataset = xr.Dataset(
        {name: ("pattern", np.array([row[name] for row in rows])) for name in names}
        | {"address": (("pattern", "lane"), np.stack([row["address"] for row in rows]))},
        {
            "pattern": list(patterns),
            "pattern_label": ("pattern", [pattern.label for pattern in patterns.values()]),
            "lane": np.arange(WARP),
        },
    )
    return annotate(dataset, BANK_PATTERNS)


def _counted(pattern: Pattern) -> dict[str, Any]:
    """Count one pattern by both rules."""
    (calls, warps), (paired, _) = (_calls(pattern, rule) for rule in RULES)
    first, counters, others = calls[0], _per_warp(calls, warps), _per_warp(paired, warps)
    prefix = "sts" if pattern.store else "lds"
    return {
        "instructions": counters[f"{prefix}_instr"],
        "bytes": counters[f"{prefix}_instr"] * WARP * first.access_bytes,
        "wavefronts": counters[f"{prefix}_wavefronts"],
        "ideal_wavefronts": counters["ideal_smem_wavefronts"],
        "hardware_wavefronts": others[f"{prefix}_wavefronts"],
        "hardware_ideal_wavefronts": others["ideal_smem_wavefronts"],
        "access_bytes": first.access_bytes,
        "store": pattern.store,
        "kernel": pattern.kernel.id if pattern.kernel else "",
        "stride": 0 if pattern.kernel else pattern.stride,
        "address": first.address,
    }


def _calls(pattern: Pattern, rule: str) -> tuple[list[Recorded], int]:
    """Record the accesses of a pattern by one block, for one tile along k; and count its warps."""
    if pattern.kernel is None:
        return record(_load, (WARP, 1, 1), pattern.width, pattern.stride, rule=rule), 1
    options = pattern.kernel.options(**pattern.options)
    launch = pattern.kernel.launch(options)
    (m, n), k = launch.tile, launch.multiple[2]
    arrays = [
        GlobalArray.without_values(name, size, "f4")
        for name, size in (("a", m * k), ("b", k * n), ("c", m * n))
    ]
    calls = record(pattern.kernel.body, launch.block, *arrays, m, n, k, options, rule=rule)
    wanted = (pattern.array, pattern.store)
    return [call for call in calls if (call.array, call.store) == wanted], launch.threads // WARP


def _load(blk: Block, width: int, stride: int) -> None:
    """Load from shared memory, lanes ``stride`` words apart."""
    tile = blk.shared("tile", (WARP - 1) * stride + width)
    blk.sload(tile, blk.lane * stride, width=width)


def _per_warp(calls: Sequence[Recorded], warps: int) -> Counter[str]:
    """Share counters between the warps of the block, and reads between the steps along k."""
    # A step reads all that it needs of an array in one call.
    shares = warps * (1 if calls[0].store else len(calls))
    total = sum((call.counters for call in calls), Counter())
    return Counter({name: value // shares for name, value in total.items()})
