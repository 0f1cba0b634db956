"""What is counted: products, lines, sectors, instructions, and how counts grow with n."""

import xarray as xr

from pipeline.claims.claim import (
    Claim,
    Finding,
    at_least,
    at_most,
    between,
    claim,
    exactly,
    near,
)
from pipeline.claims.lecture10.ladder import (
    LECTURE,
    fewer,
    per_step,
)
from pipeline.claims.pick import counted, farthest, largest, pick, present
from pipeline.tensor_core.shapes import WARP
from pipeline.words import message

STEPS = (
    "k01_naive", "k02_coalesced", "k03_smem", "k04_blocktile_1d", "k05_blocktile_2d",
    "k06_vectorized",
)  # fmt: skip
"""Kernels that the lecture counts by hand."""


@claim(
    LECTURE,
    ("counters",),
    message(
        "Every kernel computes the right product: the largest error against float64 at any "
        "simulated size is {error:.1e}."
    ),
)
def products_are_right(counts: xr.Dataset) -> Finding:
    """Compare the largest error with the bound of the lecture."""
    errors = counts["max_abs_error"].where(counts["simulated"])
    return Finding({"error": at_most(largest(errors), 1e-3)})


@claim(
    LECTURE,
    ("counters", "per_fma"),
    message(
        "However a kernel is written, its arithmetic is the same: {ratio:.3f} times n cubed "
        "multiply-adds at every size. What changes is how the numbers get there."
    ),
)
def multiply_adds_are_n_cubed(counts: xr.Dataset) -> Finding:
    """Compare multiply-adds with n cubed, wherever a kernel was simulated."""
    ratio = (counts["fma"] / counts["n"] ** 3).where(counts["simulated"])
    return Finding({"ratio": exactly(farthest(ratio, 1), 1)})


@claim(
    LECTURE,
    ("counters", "per_fma"),
    message(
        "In the naive kernel the lanes of a warp stand below one another, so each step reads "
        "{lines:.0f} lines of L1: one per row of A, and one of B for all."
    ),
)
def naive_reads_a_line_per_lane(counts: xr.Dataset, small_n: int) -> Finding:
    """Count lines per step of a warp."""
    one = counted(counts, small_n, kernel="k01_naive")
    return Finding({"lines": exactly(per_step(one, "gld_lines"), WARP + 1)})


@claim(
    LECTURE,
    ("counters", "per_fma"),
    message(
        "With neighbours in one row a step reads {lines:.0f} lines, {sectors:.0f} sectors in all: "
        "one element of A for everybody, and a whole line of B."
    ),
)
def coalesced_reads_two_lines(counts: xr.Dataset, small_n: int) -> Finding:
    """Count lines and sectors per step of a warp."""
    one = counted(counts, small_n, kernel="k02_coalesced")
    return Finding(
        {
            "lines": exactly(per_step(one, "gld_lines"), 2),
            "sectors": exactly(per_step(one, "gld_sectors"), 5),
        }
    )


@claim(
    LECTURE,
    ("counters",),
    message(
        "Coalescing changes which thread computes what, and nothing else: there is still "
        "{instructions:.0f} load instruction for each one before, but {lines:.1f} times fewer "
        "lines and {sectors:.1f} times fewer sectors."
    ),
)
def coalescing_saves_lines(counts: xr.Dataset, small_n: int) -> Finding:
    """Compare the naive and the coalesced kernel."""
    folds = {
        name: fewer(counts, small_n, counter, "k01_naive", "k02_coalesced")
        for name, counter in (
            ("instructions", "gld_instr"),
            ("lines", "gld_lines"),
            ("sectors", "gld_sectors"),
        )
    }
    wanted = {"instructions": 1, "lines": (WARP + 1) / 2, "sectors": (WARP + 1) / 5}
    return Finding({name: near(fold, wanted[name], 1e-9) for name, fold in folds.items()})


@claim(
    LECTURE,
    ("counters",),
    message(
        "Every element that a tile in shared memory holds is used by {fold:.0f} threads: the "
        "kernel asks global memory {fold:.0f} times less often than the coalesced one."
    ),
)
def tiles_are_reused(counts: xr.Dataset, small_n: int) -> Finding:
    """Compare load instructions without and with tiles."""
    fold = fewer(counts, small_n, "gld_instr", "k02_coalesced", "k03_smem")
    return Finding({"fold": exactly(fold, 32)})


@claim(
    LECTURE,
    ("counters",),
    message(
        "A thread with a square of C stores {fold:.0f} times as many lines as one with a column: "
        "its neighbours stand that far apart."
    ),
)
def squares_scatter_stores(counts: xr.Dataset, small_n: int) -> Finding:
    """Compare lines of stores of C."""
    fold = fewer(counts, small_n, "gst_lines", "k05_blocktile_2d", "k04_blocktile_1d")
    return Finding({"fold": exactly(fold, 8)})


@claim(
    LECTURE,
    ("counters", "per_fma"),
    message(
        "From the naive to the vectorized kernel the ladder sheds warp instructions, "
        "{fold:.2f}-fold at n = {n}; at least {share:.0%} of what is left multiplies."
    ),
)
def ladder_sheds_instructions(counts: xr.Dataset, small_n: int) -> Finding:
    """Compare all warp instructions, and the share of FFMA among those that are left."""
    last = counted(counts, small_n, kernel="k06_vectorized")
    fold = fewer(counts, small_n, "warp_instr", "k01_naive", "k06_vectorized")
    share = float(last["ffma_instr"] / last["warp_instr"])
    return Finding({"fold": between(fold, 2.7, 2.9), "share": at_least(share, 0.9)}, {"n": small_n})


@claim(
    LECTURE,
    ("per_fma",),
    message(
        "Counts of the main loop belong to the multiply-adds: between n = {small} and n = {second} "
        "lines of global loads per multiply-add change by {change:.1%} at most, while lines of "
        "stores fall to {fall:.2f}."
    ),
)
def main_loop_counts_stay(counts: xr.Dataset, small_n: int, second_n: int) -> Finding:
    """Compare counts per multiply-add at two sizes, over the kernels of the lecture."""
    steps = present(counts, "kernel", STEPS)
    small, second = (counted(steps, n).drop_vars("n") for n in sorted((small_n, second_n)))
    ratio = {
        counter: (second[counter] / second["fma"]) / (small[counter] / small["fma"])
        for counter in ("gld_lines", "gst_lines")
    }
    fall = ratio["gst_lines"]
    wanted = min(small_n, second_n) / max(small_n, second_n)
    return Finding(
        {
            "change": at_most(largest(abs(ratio["gld_lines"] - 1)), 1e-9),
            "fall": near(farthest(fall, wanted), wanted, 1e-9),
        },
        {"small": min(small_n, second_n), "second": max(small_n, second_n)},
    )


@claim(
    LECTURE,
    ("extrapolation",),
    message(
        "The polynomial in n is exact: at a size that it has not seen it is off by {exact:.1%} at "
        "most, over all kernels and counters, where scaling per multiply-add is off by up to "
        "{scaled:.0%}."
    ),
)
def polynomial_is_exact(extrapolation: xr.Dataset) -> Finding:
    """Compare the errors of both methods at the held-out size."""
    error = extrapolation["held_out_error"]
    exact, scaled = (largest(error.sel({"method": method})) for method in ("polynomial", "per_fma"))
    return Finding({"exact": at_most(exact, 1e-12), "scaled": at_least(scaled, 1)})


@claim(
    LECTURE,
    ("extrapolation",),
    message(
        "Scaling counts from n = {base} to n = {n} makes stores of C {ratio:.0f} times too large, "
        "for they grow with n squared only."
    ),
)
def scaling_inflates_stores(extrapolation: xr.Dataset, large_n: int) -> Finding:
    """Compare stores of C by both methods, in the first kernel of the ladder."""
    one = pick(extrapolation, kernel="k01_naive", n=large_n)
    both = one["gst_lines"]
    ratio = float(both.sel({"method": "per_fma"}) / both.sel({"method": "polynomial"}))
    base = int(one["per_fma_base_n"])
    return Finding({"ratio": near(ratio, large_n / base, 1e-9)}, {"base": base, "n": large_n})


CLAIMS: tuple[Claim, ...] = (
    products_are_right,
    multiply_adds_are_n_cubed,
    naive_reads_a_line_per_lane,
    coalesced_reads_two_lines,
    coalescing_saves_lines,
    tiles_are_reused,
    squares_scatter_stores,
    ladder_sheds_instructions,
    main_loop_counts_stay,
    polynomial_is_exact,
    scaling_inflates_stores,
)
