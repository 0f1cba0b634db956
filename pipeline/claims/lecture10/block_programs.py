"""Triton-style programs."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, between, claim, exactly
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import counted, farthest, pick, smallest
from pipeline.words import message

HAND_WRITTEN = "k10_warptiled"


@claim(
    LECTURE,
    ("block_programs",),
    message(
        "A product in blocks of Triton moves {bytes:.2f} times the bytes of the hand-written k10 "
        "at n = {n} and says so in {accesses:.0f} loads and stores, {fold:.0f} times fewer."
    ),
)
def triton_moves_the_same_bytes(
    block_programs: xr.Dataset, counts: xr.Dataset, second_n: int
) -> Finding:
    """Compare the product of the block programs with the kernel that has the same tiles."""
    program = pick(block_programs, program="matmul", n=second_n)
    kernel = counted(counts, second_n, kernel=HAND_WRITTEN)
    moved = float(program["load_bytes"] + program["store_bytes"])
    accesses = float(program["loads"] + program["stores"])
    instructions = float(kernel["gld_instr"] + kernel["gst_instr"])
    return Finding(
        {
            "bytes": exactly(moved / float(kernel["g_bytes_requested"]), 1),
            "fold": at_least(instructions / accesses, 10),
        },
        {"n": second_n, "accesses": accesses},
    )


@claim(
    LECTURE,
    ("block_programs",),
    message(
        "A softmax that keeps its row on the chip reads and writes every element once: {moved:.2f} "
        "times the bytes of the array, both ways together."
    ),
)
def fused_softmax_reads_once(block_programs: xr.Dataset) -> Finding:
    """Compare the bytes of the softmax with those of its array, at every size."""
    one = pick(block_programs, program="softmax")
    arrays = (one["load_bytes"] + one["store_bytes"]) / (4 * one["n"] ** 2)
    return Finding({"moved": exactly(farthest(arrays, 2), 2)})


@claim(
    LECTURE,
    ("block_programs",),
    message(
        "Causal attention skips what is masked: at n = {n:,} it reads {share:.0%} of the bytes of "
        "full attention, and the share falls towards a half as n grows."
    ),
)
def causal_attention_skips(block_programs: xr.Dataset) -> Finding:
    """Compare the reads of both attentions at the largest size."""
    both = pick(block_programs, program=["attention_causal", "attention"])["load_bytes"]
    share = both.sel(program="attention_causal") / both.sel(program="attention")
    n = int(share["n"].max())
    falls = smallest(-share.sortby("n").diff("n")) if share.sizes["n"] > 1 else 0.0
    return Finding(
        {"share": between(float(share.sel(n=n)), 0.5, 0.75), "falls": at_least(falls, 0)}, {"n": n}
    )


@claim(
    LECTURE,
    ("block_programs",),
    message(
        "The bytes of all {programs} programs are {ratio:.0%} of those counted by hand, and "
        "{hazards:.0f} times two programs stored different values to one element."
    ),
)
def programs_move_what_was_counted(block_programs: xr.Dataset) -> Finding:
    """Compare bytes counted and expected, and count hazards."""
    names = ("load_bytes", "store_bytes")
    ratios = xr.concat(
        [block_programs[name] / block_programs[f"expected_{name}"] for name in names], "way"
    )
    return Finding(
        {
            "ratio": exactly(farthest(ratios, 1), 1),
            "hazards": exactly(float(block_programs["hazards"].sum()), 0),
        },
        {"programs": block_programs.sizes["program"]},
    )


CLAIMS: tuple[Claim, ...] = (
    triton_moves_the_same_bytes,
    fused_softmax_reads_once,
    causal_attention_skips,
    programs_move_what_was_counted,
)
