"""Hazards of machine code: each kind in a kernel that shows it, and none in kernels without."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.compiled.decode import decode
from pipeline.compiled.hazards import HazardWatch
from pipeline.compiled.launch import execute, prepare
from pipeline.counting.compiled_counts import twin
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_listing, read_twin, twin_listing

LISTINGS = Path(__file__).parent / "listings"
ARCHITECTURES = ("sm_80", "sm_120")
READ_LATE, OVERWRITTEN = "read_after_write", "write_after_read"


def watched(code, grid, block, *arguments, batch=8192):
    watch = HazardWatch(code)
    execute(prepare(code, grid, block, arguments), batch, observe=[watch.attach])
    return watch.findings()


def mode(number, architecture, n=256, batch=8192):
    code = decode(read_listing(LISTINGS / f"hazards_{architecture}.sass"))
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    found = watched(code, 2, 128, x, out, n, number, batch=batch)
    return {one.first.kind: (one.count, one.first) for one in found}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("number", "kinds"),
    [
        (0, {}),
        (1, {READ_LATE: 24}),
        (2, {OVERWRITTEN: 25}),
        (3, {"uninitialised_read": 24}),
        (5, {"unfinished_copy": 12}),
        (6, {}),
        (7, {OVERWRITTEN: 26, "store_collision": 26}),
    ],
)
def test_watch__finds_each_kind_at_its_line(number, kinds, architecture):
    found = mode(number, architecture)
    lines = {kind: int(first.source.partition(":")[2]) for kind, (_, first) in found.items()}
    assert lines == kinds
    assert {count for count, _ in found.values()} <= {2}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_watch__barrier_that_some_threads_have_ended_before_is_torn(architecture):
    count, first = mode(4, architecture, n=200)["divergent_barrier"]
    assert (count, first.block, first.warp, first.other_warp) == (1, (1, 0, 0), 0, 2)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_watch__sum_that_is_compiled_to_a_loop_is_an_atomic(architecture):
    """Warps add to one word together, which is right, after others have read it, which is not."""
    assert set(mode(8, architecture)) == {OVERWRITTEN}


def test_watch__does_not_depend_on_how_blocks_are_batched():
    for number in range(8):
        together, alone = (mode(number, "sm_80", batch=lanes) for lanes in (8192, 128))
        assert together == alone


@pytest.mark.parametrize("name", ["bitonic", "scan", "histogram"])
def test_watch__other_kernels_have_none(name):
    rng = np.random.default_rng(0)
    code = decode(read_listing(LISTINGS / f"{name}_sm_80.sass"))
    launches = {
        "bitonic": (2, 256, rng.integers(-9, 9, 1024).astype(np.int32)),
        "scan": (
            4, 256, np.ones(1000, np.int32), np.zeros(1000, np.int32), np.zeros(4, np.int32), 1000
        ),
        "histogram": (
            5, 192, rng.integers(0, 256, 9999).astype(np.uint8), np.zeros(256, np.uint32), 9999
        ),
    }  # fmt: skip
    assert watched(code, *launches[name]) == []


@pytest.mark.parametrize(("dropped", "kind"), [(0, READ_LATE), (1, OVERWRITTEN)])
def test_watch__barrier_left_out_of_a_product_shows_what_the_model_shows(dropped, kind):
    """The hazards that the kernel in Python has without this barrier, in its machine code."""
    listing = read_listing(twin_listing("k03_smem", "sm_80"))
    barriers = [i for i, line in enumerate(listing.lines) if "BAR.SYNC" in line.text]
    lines = list(listing.lines)
    for position in barriers[dropped::2]:
        lines[position] = replace(lines[position], text="NOP")
    code = decode(replace(listing, lines=tuple(lines)))
    arrays = [np.zeros((64, 64), np.float32) for _ in range(3)]
    found = watched(code, (2, 2), 1024, *arrays, 64, 64, 64)
    assert kind in {one.first.kind for one in found}
    assert {one.first.kind for one in found} <= {READ_LATE, OVERWRITTEN}
    whole = decode(listing)
    assert watched(whole, (2, 2), 1024, *arrays, 64, 64, 64) == []


def test_watch__copies_that_are_not_waited_for_race():
    listing = read_listing(twin_listing("k12_double_buffered_async", "sm_80"))
    lines = tuple(
        replace(line, text="NOP") if "DEPBAR.LE" in line.text else line for line in listing.lines
    )
    arrays = [np.zeros((256, 256), np.float32) for _ in range(3)]
    for code, kinds in ((decode(listing), set()), (decode(replace(listing, lines=lines)), None)):
        found = {one.first.kind for one in watched(code, (1, 2), 128, *arrays, 256, 256, 256)}
        assert found == kinds if kinds is not None else "unfinished_copy" in found


@pytest.mark.parametrize(
    "kernel", ["k08_banks_padded", "k10_warptiled", "k11_double_buffered", "k13_tensor_core"]
)
def test_watch__kernels_of_the_ladder_have_no_races(kernel):
    """The compiler loads padding of k08, which nobody writes, together with what is beside it."""
    launched = twin(KERNELS[kernel])
    kind = np.float16 if launched.element_bytes == 2 else np.float32
    arrays = [np.zeros((256, 256), one) for one in (kind, kind, np.float32)]
    grid = tuple(-(-256 // edge) for edge in launched.tile)
    code = read_twin(kernel, "sm_86")
    found = {one.first.kind for one in watched(code, grid, launched.block, *arrays, *[256] * 3)}
    assert found == ({"uninitialised_read"} if kernel == "k08_banks_padded" else set())
