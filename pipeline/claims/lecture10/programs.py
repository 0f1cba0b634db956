"""Swept tiles, profiled counters, block programs and machine code."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim, exactly, near
from pipeline.claims.pick import counted, farthest, largest, pick, present, smallest, some
from pipeline.words import message

LECTURE = 10
HAND_WRITTEN = "k10_warptiled"


@claim(
    LECTURE,
    ("tile_sweep",),
    message(
        "Nobody who tuned by hand missed the model's optimum by much: the published warp tiles "
        "reach {least:.1%} of the best rate of {tiles:,} that run, on the {cards} GPUs that have "
        "any."
    ),
)
def published_warp_tiles_are_nearly_best(best_warp_tiles: xr.Dataset, large_n: int) -> Finding:
    """Compare the published tiles of warps with the best ones."""
    share = some(pick(best_warp_tiles, n=large_n)["published_share"])
    return Finding(
        {"least": at_least(smallest(share), 0.98)},
        {"cards": share.size, "tiles": int(best_warp_tiles["valid_tiles"].max())},
    )


@claim(
    LECTURE,
    ("tile_sweep",),
    message(
        "Without a level of warps more can be had: on the {gpu_name} the best block tile is "
        "{gain:.2f} times as fast, in the model, as the published one."
    ),
)
def block_tiles_leave_something(best_tiles: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare the published tiles of blocks with the best ones."""
    one = pick(best_tiles, gpu=gpu, n=large_n)
    gain = float(some(1 / one["published_share"])[0])
    return Finding({"gain": between(gain, 1, 1.6)}, {"gpu_name": one["gpu_name"].item()})


@claim(
    LECTURE,
    ("tile_sweep",),
    message(
        "Bigger tiles reuse more, until registers run out: the best tile of warps comes at most "
        "{gap:.1%} above the best tile of blocks, on any of {gpus} GPUs."
    ),
)
def warps_and_blocks_meet(
    best_tiles: xr.Dataset, best_warp_tiles: xr.Dataset, large_n: int
) -> Finding:
    """Compare the best rates with and without a level of warps."""
    blocks, warps = (pick(best, n=large_n)["best_gflops"] for best in (best_tiles, best_warp_tiles))
    gap = warps / blocks - 1
    return Finding(
        {"gap": at_most(largest(gap), 0.02), "loss": at_least(smallest(gap), 0)},
        {"gpus": gap.sizes["gpu"]},
    )


@claim(
    LECTURE,
    ("counters_measured",),
    message(
        "The simulator counts what the profiler counts: wavefronts of shared loads agree within "
        "{loads:.3%}, over {kernels} kernels."
    ),
)
def wavefronts_are_those_measured(counters_measured: xr.Dataset) -> Finding:
    """Compare wavefronts of shared loads with those that were profiled."""
    deviation = _deviation(counters_measured, "lds_wavefronts")
    return Finding({"loads": at_most(largest(abs(deviation)), 0.001)}, {"kernels": deviation.size})


@claim(
    LECTURE,
    ("counters_measured",),
    message(
        "Sectors of global memory agree within {loads:.2%} for loads, with the matrix that the "
        "profiled kernels read besides, and within {stores:.2%} for stores."
    ),
)
def sectors_are_those_measured(counters_measured: xr.Dataset) -> Finding:
    """Compare sectors of global memory with those that were profiled."""
    return Finding(
        {
            name: at_most(largest(abs(_deviation(counters_measured, counter))), 0.002)
            for name, counter in (("loads", "gld_sectors"), ("stores", "gst_sectors"))
        }
    )


@claim(
    LECTURE,
    ("counters_measured",),
    message(
        "Shared stores take {least:.1%} to {most:.1%} more wavefronts than their addresses need: "
        "what addresses do not say, the simulator does not know."
    ),
)
def stores_take_more_than_addresses(counters_measured: xr.Dataset) -> Finding:
    """Compare wavefronts of shared stores with those that were profiled."""
    deviation = _deviation(counters_measured, "sts_wavefronts")
    return Finding(
        {"least": at_least(smallest(deviation), 0), "most": at_most(largest(deviation), 0.1)}
    )


def _deviation(counters_measured: xr.Dataset, counter: str) -> NDArray[np.float64]:
    rows = counters_measured["counter"] == counter
    return some(counters_measured["deviation"].where(rows))


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
        "Bytes of all {programs} programs are those counted by hand, from {least:.0%} to "
        "{most:.0%}, and {hazards:.0f} times two programs stored different values to one element."
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
            "least": exactly(smallest(ratios), 1),
            "most": exactly(largest(ratios), 1),
            "hazards": exactly(float(block_programs["hazards"].sum()), 0),
        },
        {"programs": block_programs.sizes["program"]},
    )


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
    published_warp_tiles_are_nearly_best,
    block_tiles_leave_something,
    warps_and_blocks_meet,
    wavefronts_are_those_measured,
    sectors_are_those_measured,
    stores_take_more_than_addresses,
    triton_moves_the_same_bytes,
    fused_softmax_reads_once,
    causal_attention_skips,
    programs_move_what_was_counted,
    compiler_widens_loads,
    addresses_are_not_counted,
    assumed_registers_are_close,
    ladder_spends_instructions_on_multiplying,
    machine_code_touches_the_same_lines,
)
