"""Shared memory and its banks, tensor cores, and the order of the blocks."""

import numpy as np
import xarray as xr

from pipeline.banks import BANKS
from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim, exactly
from pipeline.claims.pick import largest, pick, present, smallest
from pipeline.tensor_core.shapes import WARP
from pipeline.vocab.tile_order import ORDER
from pipeline.words import message

LECTURE = 10
SHAPE = "m16n8k16"
"""The instruction of the lecture's tensor-core kernel."""


def _ways(bank_patterns: xr.Dataset, pattern: str) -> float:
    """How many times more wavefronts a pattern takes than its words need."""
    one = pick(bank_patterns, pattern=pattern)
    return float(one["wavefronts"] / one["ideal_wavefronts"])


@claim(
    LECTURE,
    ("bank_conflicts",),
    message(
        "A wavefront brings {most:.0f} bytes, whatever the width of the access: wide loads of "
        "neighbours save instructions, {instructions:.0f} for one, and no wavefronts."
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


@claim(
    LECTURE,
    ("mma_fragments",),
    message(
        "One {shape} does {multiply_adds:,.0f} multiply-adds. Its lanes hold {a:.0f} elements of "
        "A, {b:.0f} of B and {c:.0f} sums each, and every element has exactly one owner."
    ),
)
def every_element_has_one_owner(fragments: xr.Dataset) -> Finding:
    """Count the places that the lanes of one instruction hold."""
    one = pick(fragments, shape=SHAPE)
    held = dict(zip("abc", one["elements"].sel(operand=list("ABC")).to_numpy(), strict=True))
    sides = (one["coordinate"].max(("lane", "element")) + 1).sel(operand=["A", "C"]).to_numpy()
    (rows, depth), (_, columns) = sides.tolist()
    owners = [len(np.unique(_places(one, operand), axis=0)) for operand in "ABC"]
    wanted = [rows * depth, depth * columns, rows * columns]
    return Finding(
        {
            "multiply_adds": exactly(rows * depth * columns, 2048),
            "owned": exactly(sum(owners) / sum(wanted), 1),
            "held": exactly(WARP * sum(held.values()) / sum(wanted), 1),
        },
        {"shape": SHAPE, **held},
    )


def _places(one: xr.Dataset, operand: str) -> np.ndarray:
    """Row and column of every element that a lane holds."""
    places = one["coordinate"].sel(operand=operand).stack(held=("lane", "element"))
    placed = places.transpose("held", "axis").to_numpy()
    return placed[(placed >= 0).all(axis=1)]


@claim(
    LECTURE,
    ("ldmatrix",),
    message(
        "Rows of {row} halves start in the same banks, so one ldmatrix takes {plain:.0f} "
        "wavefronts; an XOR swizzle spreads the same bytes and takes {swizzled:.0f}, with "
        "{extra:.0f} bytes wasted."
    ),
)
def swizzle_frees_ldmatrix(ldmatrix: xr.Dataset) -> Finding:
    """Compare plain and swizzled rows of the pictured width, at the worst place."""
    row = int(ldmatrix["pictured_row_elems"])
    one = pick(ldmatrix, row_elems=row)
    worst = one["wavefronts"].max(("row0", "col0"))
    return Finding(
        {
            "plain": exactly(float(worst.sel(layout="plain")), 32),
            "swizzled": exactly(float(worst.sel(layout="xor_swizzle")), 4),
            "extra": exactly(float(one["extra_bytes"].sel(layout="xor_swizzle")), 0),
        },
        {"row": row},
    )


@claim(
    LECTURE,
    ("ldmatrix",),
    message(
        "Padding frees ldmatrix of conflicts at every width ({padded:.0f} wavefronts) and wastes "
        "memory; the swizzle of the lecture wastes none and frees {freed:.0f} of {widths} widths."
    ),
)
def padding_frees_every_width(ldmatrix: xr.Dataset) -> Finding:
    """Compare padded and swizzled rows over all widths."""
    worst = ldmatrix["wavefronts"].max(("row0", "col0"))
    ideal = ldmatrix["ideal_wavefronts"].max(("row0", "col0"))
    freed = (worst == ideal).sum("row_elems")
    return Finding(
        {
            "padded": exactly(largest(worst.sel(layout="padded")), 4),
            "freed": between(float(freed.sel(layout="xor_swizzle")), 1, 8),
            "wasted": at_least(largest(ldmatrix["extra_bytes"].sel(layout="padded")), 1),
        },
        {"widths": ldmatrix.sizes["row_elems"]},
    )


def _saved(tile_order: xr.Dataset, n: int) -> xr.DataArray:
    """Share of the DRAM traffic of row-major order that the best band saves, by GPU."""
    traffic = pick(tile_order, n=n)["dram_bytes"]
    return 1 - traffic.sel(group=slice(1, None)).min("group") / traffic.sel(group=0)


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "Blocks that run together share what they read, so their order counts: bands of tile rows "
        "save {least:.0%} to {most:.0%} of the DRAM traffic of row-major order at n = {n:,}."
    ),
)
def bands_save_traffic(tile_order: xr.Dataset, shown_gpus: list[str]) -> Finding:
    """Compare the best bands with row-major order at the largest size."""
    n = int(tile_order["n"].max())
    saved = _saved(pick(tile_order, gpu=shown_gpus), n)
    return Finding(
        {"least": at_least(smallest(saved), 0.05), "most": at_most(largest(saved), 0.95)}, {"n": n}
    )


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "The larger the matrix, the more there is to save: on the {gpu_name} {small:.0%} at n = "
        "{smallest:,} and {large:.0%} at n = {largest:,}, because a wave in row-major order "
        "becomes one thin strip."
    ),
)
def bands_save_more_of_larger_matrices(tile_order: xr.Dataset, gpu: str) -> Finding:
    """Compare what bands save at the smallest and the largest size."""
    one = pick(tile_order, gpu=gpu)
    sizes = int(one["n"].min()), int(one["n"].max())
    small, large = (float(_saved(one, n)) for n in sizes)
    return Finding(
        {"small": at_most(small, 0.4), "large": at_least(large, small)},
        {"smallest": sizes[0], "largest": sizes[1], "gpu_name": one["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "What bands save, they save by being square: at n = {n:,} on the {gpu_name} a wave touches "
        "{share:.0%} of the rows and columns of tiles that it touches in row-major order."
    ),
)
def bands_touch_fewer_tiles(tile_order: xr.Dataset, gpu: str) -> Finding:
    """Compare rows and columns of tiles per wave."""
    n = int(tile_order["n"].max())
    one = pick(tile_order, gpu=gpu, n=n)
    touched = one["rows_per_wave"] + one["cols_per_wave"]
    best = touched.sel(group=one["dram_bytes"].sel(group=slice(1, None)).idxmin("group"))
    share = float(best / touched.sel(group=0))
    return Finding({"share": at_most(share, 0.9)}, {"n": n, "gpu_name": one["gpu_name"].item()})


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "Hilbert's curve needs no height to be chosen and comes close: over all GPUs and sizes it "
        "takes {least:.2f} to {most:.2f} times the traffic of the best band."
    ),
)
def hilbert_needs_no_choice(tile_order: xr.Dataset) -> Finding:
    """Compare Hilbert's curve with the best band."""
    curve = tile_order[f"{ORDER}dram_bytes"].sel(order="hilbert")
    ratio = curve / tile_order["dram_bytes"].sel(group=slice(1, None)).min("group")
    return Finding({"least": at_least(smallest(ratio), 0.9), "most": at_most(largest(ratio), 1.25)})


CLAIMS: tuple[Claim, ...] = (
    wide_loads_save_no_wavefronts,
    stride_of_all_banks_is_worst,
    odd_strides_never_conflict,
    squares_conflict,
    transposing_costs_at_the_store,
    rearranging_helps_and_padding_does_not,
    bands_save_traffic,
    bands_save_more_of_larger_matrices,
    bands_touch_fewer_tiles,
    hilbert_needs_no_choice,
    every_element_has_one_owner,
    swizzle_frees_ldmatrix,
    padding_frees_every_width,
)
