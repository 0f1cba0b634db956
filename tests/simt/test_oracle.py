"""The slow oracle against counts made by hand; the comment above each number is the count."""

import ast
from pathlib import Path

import pytest

from tests.simt.oracle import Lane, global_access, global_atomic, shared_access, shared_atomic


def warp_of(addresses, *, active=range(32), warp=0, block=0):
    """Lanes 0, 1, 2, ... at the given byte addresses."""
    return [Lane(block, warp, i, at, i in active) for i, at in enumerate(addresses)]


def each(address):
    """A full warp with the byte address that each lane number gives."""
    return warp_of([address(lane) for lane in range(32)])


def every(stride, start=0):
    """32 addresses, ``stride`` bytes apart."""
    return [start + stride * lane for lane in range(32)]


@pytest.mark.parametrize("name", ["oracle.py", "hazard_oracle.py", "warp_oracle.py"])
def test_oracle__shares_no_code_with_the_package(name):
    tree = ast.parse(Path(__file__).with_name(name).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imports = [
        it.name for node in ast.walk(tree) if isinstance(node, ast.Import) for it in node.names
    ]
    assert modules <= {"collections.abc", "dataclasses", "tests.simt.oracle"}
    assert imports in ([], ["struct"])


# ---- global memory: (lanes, element bytes, width) -> instructions, sectors, lines, bytes

GLOBAL = {
    # 32 x 4 = 128 bytes from 0: sectors 0-3, line 0
    "contiguous floats": (warp_of(every(4)), 4, 1, (1, 4, 1, 128)),
    # bytes 16 to 143: sectors 0-4, lines 0 and 1
    "contiguous floats from byte 16": (warp_of(every(4, 16)), 4, 1, (1, 5, 2, 128)),
    # one word for all: sector 0, line 0; every lane still asks for 4 bytes
    "one float for all": (warp_of([20] * 32), 4, 1, (1, 1, 1, 128)),
    # 512 bytes apart: every lane its own sector and line
    "a column of a 128-wide matrix": (warp_of(every(512)), 4, 1, (1, 32, 32, 128)),
    # 32 bytes apart: a sector each, four to a line
    "every eighth float": (warp_of(every(32)), 4, 1, (1, 32, 8, 128)),
    # 32 x 16 = 512 bytes: 16 sectors, 4 lines
    "contiguous float4": (warp_of(every(16)), 4, 4, (1, 16, 4, 512)),
    # lanes 3 and 4: bytes 12-15 and 16-19, one sector
    "two active lanes": (warp_of(every(4), active=(3, 4)), 4, 1, (1, 1, 1, 8)),
    # nobody: the instruction is not issued
    "nobody active": (warp_of(every(4), active=()), 4, 1, (0, 0, 0, 0)),
    # 32 single bytes from 0: one sector
    "contiguous bytes": (warp_of(every(1)), 1, 1, (1, 1, 1, 32)),
    # 32 x 8 = 256 bytes: 8 sectors, 2 lines
    "contiguous doubles": (warp_of(every(8)), 8, 1, (1, 8, 2, 256)),
    # 32 x 2 x 2 bytes = 128
    "contiguous pairs of halves": (warp_of(every(4)), 2, 2, (1, 4, 1, 128)),
    # two warps on the same 128 bytes: nothing is shared between instructions
    "two warps": (warp_of(every(4)) + warp_of(every(4), warp=1), 4, 1, (2, 8, 2, 256)),
    # warp 0 of two blocks: two instructions as well
    "two blocks": (warp_of(every(4)) + warp_of([0] * 32, block=1), 4, 1, (2, 5, 2, 256)),
}


@pytest.mark.parametrize("case", GLOBAL)
def test_global_access__hand_counted(case):
    lanes, itemsize, width, by_hand = GLOBAL[case]
    assert tuple(global_access(lanes, itemsize, width).values()) == by_hand


# ---- shared memory: wavefronts and ideal, by the lecture's phases and by the hardware's rule

SHARED = {
    # 32 words in 32 banks
    "contiguous floats": (warp_of(every(4)), 4, 1, (1, 1), (1, 1)),
    # one word, broadcast
    "one float for all": (warp_of([8] * 32), 4, 1, (1, 1), (1, 1)),
    # words 0, 2, ..., 62: banks 0, 2, ..., 30, two words each
    "every other float": (warp_of(every(8)), 4, 1, (2, 1), (2, 1)),
    # words 0, 32, 64, ...: all in bank 0
    "a column of a 32-wide tile": (warp_of(every(128)), 4, 1, (32, 1), (32, 1)),
    # words 0, 33, 66, ...: bank = lane
    "a column of a 33-wide tile": (warp_of(every(132)), 4, 1, (1, 1), (1, 1)),
    # words 0 and 64, 16 lanes each: both in bank 0 (the loads of A in k05)
    "two words in one bank": (warp_of([0] * 16 + [256] * 16), 4, 1, (2, 1), (2, 1)),
    # words 0, 8, ..., 120, each for two lanes: banks 0, 8, 16, 24, four words each (B in k05)
    "16 words 8 apart, twice": (each(lambda lane: 32 * (lane % 16)), 4, 1, (4, 1), (4, 1)),
    # lecture: two halves, 32 words in 32 banks each. Hardware: no pairs, the same
    "contiguous float2": (warp_of(every(8)), 4, 2, (2, 2), (2, 2)),
    # lecture: a wavefront for each half. Hardware: paired, so the warp goes at once, 2 words
    "one float2 for all": (warp_of([0] * 32), 4, 2, (2, 2), (1, 1)),
    # lanes 2i and 2i + 1 share: 16 addresses of 8 bytes. Lecture: 8 of them, 16 words, per half.
    # Hardware: paired (x = 1), 32 words in 32 banks
    "float2 shared by neighbours": (each(lambda lane: 8 * (lane // 2)), 4, 2, (2, 2), (1, 1)),
    # lanes 0 2, 1 3, 4 6, ... share: paired (x = 2)
    "float2 shared by every other": (
        each(lambda lane: 8 * (lane // 4 * 2 + lane % 2)),
        4,
        2,
        (2, 2),
        (1, 1),
    ),
    # lane l and l + 16 share: no pair at distance 1 or 2, so halves of 16 words x 2 = 32 words
    "float2 shared by halves": (each(lambda lane: 8 * (lane % 16)), 4, 2, (2, 2), (2, 2)),
    # doubles 16 bytes apart: a half has words 0 1 4 5 ... 60 61: banks 0 1 4 5 ... 28 29, two each
    "every other double": (warp_of(every(16)), 8, 1, (4, 2), (4, 2)),
    # 8 lanes x 4 words = 32 words in 32 banks, four times
    "contiguous float4": (warp_of(every(16)), 4, 4, (4, 4), (4, 4)),
    # the same 16 bytes: once per quarter; hardware pairs, once per half
    "one float4 for all": (warp_of([0] * 32), 4, 4, (4, 4), (2, 2)),
    # addresses 0, 16, 32, 48: 16 words per quarter, 16 banks; no pairs
    "float4 of lane modulo 4": (each(lambda lane: 16 * (lane % 4)), 4, 4, (4, 4), (4, 4)),
    # 32 bytes apart: a quarter has 32 words in banks 0-3, 8-11, 16-19, 24-27: two each
    "every other float4": (warp_of(every(32)), 4, 4, (8, 4), (8, 4)),
    # 16 addresses 32 bytes apart, the same for both halves (B in k06): a quarter has 32 words in
    # 16 banks, 2 wavefronts, four times. Lanes 0 and 1 differ, 0 and 2 too: no pairs
    "16 float4 32 bytes apart": (each(lambda lane: 32 * (lane % 16)), 4, 4, (8, 4), (8, 4)),
    # lanes in fours at 0, 16, 32, ...: a quarter has 2 addresses, 8 words. Hardware pairs: a half
    # has 4 addresses, 16 words
    "float4 of lane divided by 4": (each(lambda lane: 16 * (lane // 4)), 4, 4, (4, 4), (2, 2)),
    # lanes 0 and 31: quarters 0 and 3. Hardware: neither has a partner, so pairs hold; two halves
    "float4 of two far lanes": (warp_of(every(16), active=(0, 31)), 4, 4, (2, 2), (2, 2)),
    # lanes 0 and 9, 512 bytes apart: quarters 0 and 1. Hardware: pairs hold; one half, and words
    # 0-3 and 128-131 lie in the same banks
    "float4 of two near lanes": (
        warp_of([0] * 9 + [512] + [0] * 22, active=(0, 9)),
        4,
        4,
        (2, 2),
        (2, 1),
    ),
    # lanes 0 to 7 only: one quarter; lanes 0 and 1 differ, 0 and 2 too, so no pairs
    "float4 of the first quarter": (warp_of(every(16), active=range(8)), 4, 4, (1, 1), (1, 1)),
    # 32 bytes are 8 words in 8 banks
    "contiguous bytes": (warp_of(every(1)), 1, 1, (1, 1), (1, 1)),
    # bytes 0, 4, 128, 132, ...: words 0 1 32 33 ... 480 481: 16 words in each of banks 0 and 1
    "scattered bytes": (
        each(lambda lane: 128 * (lane // 2) + 4 * (lane % 2)),
        1,
        1,
        (16, 1),
        (16, 1),
    ),
    # four bytes each are a 32-bit access: one phase
    "contiguous char4": (warp_of(every(4)), 1, 4, (1, 1), (1, 1)),
    # four halves each are a 64-bit access: two phases
    "contiguous half4": (warp_of(every(8)), 2, 4, (2, 2), (2, 2)),
    # two doubles each are a 128-bit access: four phases
    "contiguous double2": (warp_of(every(16)), 8, 2, (4, 4), (4, 4)),
}


@pytest.mark.parametrize("case", SHARED)
@pytest.mark.parametrize("rule", ["lecture", "hardware"])
def test_shared_access__hand_counted(case, rule):
    lanes, itemsize, width, lecture, hardware = SHARED[case]
    wavefronts, ideal = {"lecture": lecture, "hardware": hardware}[rule]
    assert shared_access(lanes, rule, itemsize, width) == {
        "instructions": 1,
        "wavefronts": wavefronts,
        "ideal": ideal,
    }


def test_shared_access__ideal_of_the_widest_store_ignores_pairs():
    # One float4 for all: wavefronts as for the load, but a store's ideal is 4, never 2
    counts = shared_access(warp_of([0] * 32), "hardware", 4, 4, store=True)
    assert (counts["wavefronts"], counts["ideal"]) == (2, 4)


def test_shared_access__one_lane_spoils_the_pairs_of_a_warp():
    # Neighbours share (2 wavefronts as above); lane 31 elsewhere breaks its pair and so all pairs:
    # four quarters with one wavefront each
    shared = [16 * (lane // 2) for lane in range(31)] + [1024]
    assert shared_access(warp_of(shared), "hardware", 4, 4)["wavefronts"] == 4


def test_shared_access__warps_and_blocks_are_counted_apart():
    # 1 + 32 + 1, and a silent warp
    lanes = warp_of(every(4)) + warp_of(every(128), warp=1) + warp_of(every(4), block=1)
    lanes += warp_of(every(128), warp=3, active=())
    assert shared_access(lanes, "lecture") == {"instructions": 3, "wavefronts": 34, "ideal": 3}


@pytest.mark.parametrize(("itemsize", "width"), [(3, 1), (4, 3), (8, 4), (16, 1)])
def test_access__refuses_what_no_instruction_does(itemsize, width):
    with pytest.raises(ValueError, match="no access moves"):
        global_access(warp_of(every(16)), itemsize, width)


def test_access__refuses_a_misaligned_lane():
    with pytest.raises(ValueError, match="multiple of 16"):
        shared_access(warp_of(every(4)), "lecture", 4, 4)


# ---- atomics: (lanes, element bytes) -> conflicts; wavefronts

ATOMICS = {
    # 32 words in 32 banks, all different
    "a word each": (warp_of(every(4)), 4, 0, 1),
    # all on one word: the first is free, 31 wait; the bank is visited 32 times
    "one word for all": (warp_of([8] * 32), 4, 31, 32),
    # two words, 16 lanes each, in banks 0 and 1: 15 wait at each; each bank is visited 16 times
    "two words": (each(lambda lane: 4 * (lane % 2)), 4, 30, 16),
    # two words in one bank: 16 lanes each, but 32 visits of bank 0
    "two words of one bank": (each(lambda lane: 128 * (lane % 2)), 4, 30, 32),
    # 64 bits: two halves; within a half 16 lanes x 2 words = 32 banks
    "a double each": (warp_of(every(8)), 8, 0, 2),
    # both halves visit banks 0 and 1 16 times
    "one double for all": (warp_of([0] * 32), 8, 31, 32),
    # neighbours share a word, not an address: bank visited twice
    "a half each": (warp_of(every(2)), 2, 0, 2),
    # 3 lanes on one word
    "three active lanes": (warp_of([4] * 32, active=(0, 5, 31)), 4, 2, 3),
    # the halves of the warp with lanes 0 and 31: one visit each
    "two far doubles": (warp_of([0] * 32, active=(0, 31)), 8, 1, 2),
}


@pytest.mark.parametrize("case", ATOMICS)
def test_atomics__hand_counted(case):
    lanes, itemsize, conflicts, wavefronts = ATOMICS[case]
    assert global_atomic(lanes, itemsize)["conflicts"] == conflicts
    assert shared_atomic(lanes, itemsize) == {"instructions": 1, "wavefronts": wavefronts}


def test_atomics__sectors_and_lines_are_those_of_an_access():
    lanes = warp_of(every(32)) + warp_of([0] * 32, warp=1)
    counted = global_atomic(lanes)
    assert counted.pop("conflicts") == 31
    assert counted == global_access(lanes)
