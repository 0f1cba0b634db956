"""Reads of shared memory, and the barriers that guard them."""

import xarray as xr

from pipeline.claims.claim import (
    Claim,
    Finding,
    at_least,
    claim,
    exactly,
)
from pipeline.claims.lecture10.ladder import (
    LECTURE,
    fewer,
    per_step,
)
from pipeline.claims.pick import counted, farthest, pick, present, smallest
from pipeline.tensor_core.shapes import WARP
from pipeline.words import message


@claim(
    LECTURE,
    ("counters", "missing_sync"),
    message(
        "No kernel of the ladder has a data hazard: {hazards:.0f} reports over all kernels and "
        "sizes."
    ),
)
def ladder_has_no_hazards(counts: xr.Dataset) -> Finding:
    """Sum the reports of all launches."""
    return Finding({"hazards": exactly(float(counts["race_count"].sum()), 0)})


def _reads(kernel: str, reads: float, statement: str, name: str) -> Claim:
    """Claim how often a kernel reads shared memory per multiply-add."""

    def check(counts: xr.Dataset, small_n: int) -> Finding:
        one = counted(counts, small_n, kernel=kernel)
        return Finding({"reads": exactly(per_step(one, "lds_instr"), reads)})

    return Claim(name, LECTURE, ("smem_reads", "per_fma"), statement, check)


smem_reads_of_tiles = _reads(
    "k03_smem",
    2,
    message(
        "With tiles alone, every multiply-add still reads shared memory {reads:.0f} times, one "
        "element of A and one of B: the bottleneck has only moved."
    ),
    "smem_reads_of_tiles",
)


smem_reads_of_columns = _reads(
    "k04_blocktile_1d",
    9 / 8,
    message(
        "A thread that computes a column of C uses each element of B for all of it and reads "
        "{reads:.3f} times per multiply-add."
    ),
    "smem_reads_of_columns",
)


smem_reads_of_squares = _reads(
    "k05_blocktile_2d",
    16 / 64,
    message(
        "A thread that computes a square of C as outer products reads only {reads:.2f} times per "
        "multiply-add."
    ),
    "smem_reads_of_squares",
)


@claim(
    LECTURE,
    ("smem_reads",),
    message(
        "The counted reads of shared memory are those that were published, {ratio:.3f} times, over "
        "{claimed} kernels."
    ),
)
def published_reads_are_met(counts: xr.Dataset, claimed_reads: xr.Dataset, small_n: int) -> Finding:
    """Compare counted with published reads per multiply-add."""
    kernels = claimed_reads["kernel"].to_numpy().tolist()
    shown = counted(present(counts, "kernel", kernels), small_n)
    ratio = shown["lds_instr"] / shown["ffma_instr"] / claimed_reads["reads_per_fma"]
    return Finding({"ratio": exactly(farthest(ratio, 1), 1)}, {"claimed": ratio.sizes["kernel"]})


@claim(
    LECTURE,
    ("counters", "smem_reads", "bank_conflicts"),
    message(
        "Wide accesses save instructions, not work: {instructions:.0f} times fewer reads of shared "
        "memory, but only {wavefronts:.0f} times fewer wavefronts, and these because A lies "
        "transposed."
    ),
)
def vectors_save_instructions(counts: xr.Dataset, small_n: int) -> Finding:
    """Compare shared loads and their wavefronts without and with vectors."""
    pair = ("k05_blocktile_2d", "k06_vectorized")
    return Finding(
        {
            "instructions": exactly(fewer(counts, small_n, "lds_instr", *pair), 4),
            "wavefronts": exactly(fewer(counts, small_n, "lds_wavefronts", *pair), 2),
        }
    )


def _without(hazards: xr.Dataset, counts: xr.Dataset, n: int, barrier: str) -> xr.Dataset:
    """Hazards with a barrier left out; ``steps`` is how many times a block fills its tiles."""
    kernel = counted(counts, n, kernel="k03_smem")
    one = pick(hazards, variant=f"k03_smem_no_{barrier}_sync", n=n)
    # Each step of a block has two barriers.
    return one.assign(steps=kernel["barriers"] / 2, blocks=kernel["blocks"])


@claim(
    LECTURE,
    ("missing_sync",),
    message(
        "Without the first barrier warps read tiles that others still fill: {per_step:.0f} reports "
        "for every step of every block, one per warp, {others:.0f} of them of another kind."
    ),
)
def first_barrier_guards_reads(hazards: xr.Dataset, counts: xr.Dataset, small_n: int) -> Finding:
    """Count reads after writes per step of a block."""
    one = _without(hazards, counts, small_n, "first")
    return Finding(
        {
            "per_step": exactly(float(one["raw_races"] / one["steps"]), WARP),
            "others": exactly(float(one["race_count"] - one["raw_races"]), 0),
        }
    )


@claim(
    LECTURE,
    ("missing_sync",),
    message(
        "Without the second barrier a warp overwrites tiles that others still read: {per_step:.0f} "
        "report for every step of a block but its last, {others:.0f} of them of another kind."
    ),
)
def second_barrier_guards_writes(hazards: xr.Dataset, counts: xr.Dataset, small_n: int) -> Finding:
    """Count writes after reads per step of a block that another step follows."""
    one = _without(hazards, counts, small_n, "second")
    followed = one["steps"] - one["blocks"]
    return Finding(
        {
            "per_step": exactly(float(one["war_races"] / followed), 1),
            "others": exactly(float(one["race_count"] - one["war_races"]), 0),
        }
    )


@claim(
    LECTURE,
    ("missing_sync",),
    message(
        "Each barrier has its own use, and both together are enough: {with_both:.0f} reports with "
        "both, at least {without:,.0f} with either left out."
    ),
)
def both_barriers_are_needed(hazards: xr.Dataset, small_n: int) -> Finding:
    """Compare reports with both barriers and with one."""
    at_n = pick(hazards, n=small_n)["race_count"]
    whole = at_n.sel(variant="k03_smem")
    return Finding(
        {
            "with_both": exactly(float(whole), 0),
            "without": at_least(smallest(at_n.drop_sel(variant="k03_smem")), 1),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    ladder_has_no_hazards,
    smem_reads_of_tiles,
    smem_reads_of_columns,
    smem_reads_of_squares,
    published_reads_are_met,
    vectors_save_instructions,
    first_barrier_guards_reads,
    second_barrier_guards_writes,
    both_barriers_are_needed,
)
