"""Machine code of the ladder."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim, exactly, near
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import farthest, largest, pick, present
from pipeline.words import message


def _compiled(compiled_counts: xr.Dataset, kernel: str, arch: str) -> xr.Dataset:
    """Select counts of compiled code at the largest size; the claims below are ratios."""
    return pick(compiled_counts, kernel=kernel, arch=arch).sel(n=compiled_counts["n"].max())


@claim(
    LECTURE,
    ("compiled", "compiled_vs_python"),
    message(
        "Where it can prove alignment, the compiler widens loads by itself: for {arch} each load "
        "of shared memory of k05 brings {squares:.0f} words, though the source reads one at a time."
    ),
)
def compiler_widens_loads(compiled_counts: xr.Dataset) -> Finding:
    """Look at the words per shared load of the kernel with squares in registers."""
    one = _compiled(compiled_counts, "k05_blocktile_2d", "sm_86")
    return Finding({"squares": exactly(float(one["lds_words"]), 4)}, {"arch": "sm_86"})


@claim(
    LECTURE,
    ("compiled", "compiled_vs_python"),
    message(
        "The lecture counts no addresses and no loops. In the naive kernel that is a third of all "
        "instructions: compiled for {arch} it issues {fold:.2f} times as many."
    ),
)
def addresses_are_not_counted(compiled_counts: xr.Dataset, extrapolation: xr.Dataset) -> Finding:
    """Compare warp instructions of machine code with those of the Python kernel."""
    one = _compiled(compiled_counts, "k01_naive", "sm_86")
    python = pick(extrapolation, kernel="k01_naive", n=int(one["n"]))
    exact = python["warp_instr"].sel({"method": "polynomial"})
    return Finding({"fold": between(float(one["warp_instr"] / exact), 1.4, 1.7)}, {"arch": "sm_86"})


@claim(
    LECTURE,
    ("compiled", "occupancy"),
    message(
        "The registers that the lecture assumes are close to those that the compiler needs: for "
        "{arch} they differ by {off:.0f} at most, over {kernels} kernels."
    ),
)
def assumed_registers_are_close(compiled_counts: xr.Dataset) -> Finding:
    """Compare assumed registers with those of machine code."""
    one = pick(compiled_counts, arch="sm_86")
    off = abs(one["registers"] - one["registers_assumed"])
    return Finding(
        {"off": at_most(largest(off), 16)}, {"arch": "sm_86", "kernels": off.sizes["kernel"]}
    )


@claim(
    LECTURE,
    ("compiled",),
    message(
        "Compiled for {arch}, {naive:.0%} of the instructions of the naive kernel multiply, and "
        "{tuned:.0%} of those of the vectorized one: the ladder is a way to spend instructions "
        "well."
    ),
)
def ladder_spends_instructions_on_multiplying(compiled_counts: xr.Dataset) -> Finding:
    """Compare the share of FFMA in machine code at the two ends of the lecture's ladder."""
    naive, tuned = (
        _compiled(compiled_counts, kernel, "sm_86") for kernel in ("k01_naive", "k06_vectorized")
    )
    shares = {
        name: float(one["ffma_instr"] / one["warp_instr"])
        for name, one in (("naive", naive), ("tuned", tuned))
    }
    return Finding(
        {"naive": at_most(shares["naive"], 0.3), "tuned": at_least(shares["tuned"], 0.8)},
        {"arch": "sm_86"},
    )


@claim(
    LECTURE,
    ("compiled_vs_python", "counters"),
    message(
        "What the lecture counts by hand the machine code does: lines of global loads of {kernels} "
        "kernels are {ratio:.4f} times those of their Python twins, at worst."
    ),
)
def machine_code_touches_the_same_lines(
    compiled_counts: xr.Dataset, extrapolation: xr.Dataset
) -> Finding:
    """Compare lines of global loads of machine code and of the Python kernels."""
    kernels = ["k01_naive", "k02_coalesced", "k03_smem", "k04_blocktile_1d", "k05_blocktile_2d"]
    compiled = present(pick(compiled_counts, arch="sm_86"), "kernel", kernels)
    compiled = compiled.sel(n=compiled["n"].max())
    python = pick(
        extrapolation, kernel=compiled["kernel"].to_numpy().tolist(), n=int(compiled["n"])
    )
    exact = python["gld_lines"].sel({"method": "polynomial"})
    ratios = compiled["gld_lines"] / exact
    return Finding(
        {"ratio": near(farthest(ratios, 1), 1, 1e-9)}, {"kernels": ratios.sizes["kernel"]}
    )


CLAIMS: tuple[Claim, ...] = (
    compiler_widens_loads,
    addresses_are_not_counted,
    assumed_registers_are_close,
    ladder_spends_instructions_on_multiplying,
    machine_code_touches_the_same_lines,
)
