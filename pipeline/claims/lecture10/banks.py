"""Bank conflicts of shared memory."""

import numpy as np
import xarray as xr

from pipeline.banks import BANKS
from pipeline.claims.claim import Claim, Finding, at_least, claim, exactly
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import largest, pick, present, smallest
from pipeline.tensor_core.shapes import WARP
from pipeline.words import message


def _ways(bank_patterns: xr.Dataset, pattern: str) -> float:
    """How many times more wavefronts a pattern takes than its words need."""
    one = pick(bank_patterns, pattern=pattern)
    return float(one["wavefronts"] / one["ideal_wavefronts"])


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "A wavefront brings {most:.0f} bytes, whatever the width of the access: wide loads of "
        "neighbours save instructions, one in place of {instructions:.0f}, and no wavefronts."
    ),
)
def wide_loads_save_no_wavefronts(bank_patterns: xr.Dataset) -> Finding:
    """Compare loads of neighbours of 32, 64 and 128 bits."""
    names = [f"contiguous_{bits}bit" for bits in (32, 64, 128)]
    loads = pick(bank_patterns, pattern=names)
    each = loads["bytes"] / loads["wavefronts"]
    per_instruction = loads["bytes"] / loads["instructions"]
    return Finding(
        {
            "least": exactly(smallest(each), 4 * BANKS),
            "most": exactly(largest(each), 4 * BANKS),
            "instructions": exactly(float(per_instruction[-1] / per_instruction[0]), 4),
        }
    )


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "Lanes that stand {stride:.0f} words apart all meet in one bank and queue: "
        "{wavefronts:.0f} wavefronts instead of one."
    ),
)
def stride_of_all_banks_is_worst(bank_patterns: xr.Dataset) -> Finding:
    """Find the most wavefronts over all strides, and where it is."""
    strided = _strides(bank_patterns)
    wavefronts = strided["wavefronts"]
    return Finding(
        {
            "stride": exactly(
                float(strided["stride"][int(np.argmax(wavefronts.to_numpy()))]), BANKS
            ),
            "wavefronts": exactly(largest(wavefronts), WARP),
        }
    )


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "An odd distance between lanes never conflicts: {odd:.0f} wavefront at most; an even one "
        "always does, {even:.0f} at least. One word of padding turns one into the other."
    ),
)
def odd_strides_never_conflict(bank_patterns: xr.Dataset) -> Finding:
    """Compare odd and even strides."""
    strided = _strides(bank_patterns)
    is_odd = strided["stride"] % 2 == 1
    return Finding(
        {
            "odd": exactly(largest(strided["wavefronts"].where(is_odd)), 1),
            "even": at_least(smallest(strided["wavefronts"].where(~is_odd)), 2),
        }
    )


def _strides(bank_patterns: xr.Dataset) -> xr.Dataset:
    """Select the patterns of lanes at equal distances."""
    names = bank_patterns["pattern"].to_numpy().tolist()
    return present(bank_patterns, "pattern", [name for name in names if name.startswith("stride_")])


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "When k05 reads its tiles, A conflicts {a:.0f}-way and B {b:.0f}-way; reading B in vectors "
        "leaves {vectors:.0f}-way conflicts."
    ),
)
def squares_conflict(bank_patterns: xr.Dataset) -> Finding:
    """Count conflicts of the reads of the kernel with squares in registers."""
    patterns = {"a": "k05_a_read", "b": "k05_b_read", "vectors": "k05_b_read_vec_b"}
    wanted = {"a": 2, "b": 4, "vectors": 2}
    return Finding(
        {
            name: exactly(_ways(bank_patterns, pattern), wanted[name])
            for name, pattern in patterns.items()
        }
    )


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "k06 stores A transposed, so that it can be read in vectors, and pays with {write:.0f}-way "
        "conflicts where it stores; reads of B still conflict {read:.0f}-way."
    ),
)
def transposing_costs_at_the_store(bank_patterns: xr.Dataset) -> Finding:
    """Count conflicts of the vectorized kernel."""
    return Finding(
        {
            "write": exactly(_ways(bank_patterns, "k06_a_write"), 2),
            "read": exactly(_ways(bank_patterns, "k06_b_read"), 2),
        }
    )


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "Rearranging B moves its conflicts from the reads ({read:.0f}-way) to the rarer stores "
        "({write:.0f}-way); padding B leaves the reads at {padded:.0f}-way."
    ),
)
def rearranging_helps_and_padding_does_not(bank_patterns: xr.Dataset) -> Finding:
    """Compare the two kernels that want to be rid of the conflicts of B."""
    patterns = {"read": "k07_b_read", "write": "k07_b_write", "padded": "k08_b_read"}
    wanted = {"read": 1, "write": 2, "padded": 4}
    return Finding(
        {
            name: exactly(_ways(bank_patterns, pattern), wanted[name])
            for name, pattern in patterns.items()
        }
    )


CLAIMS: tuple[Claim, ...] = (
    wide_loads_save_no_wavefronts,
    stride_of_all_banks_is_worst,
    odd_strides_never_conflict,
    squares_conflict,
    transposing_costs_at_the_store,
    rearranging_helps_and_padding_does_not,
)
