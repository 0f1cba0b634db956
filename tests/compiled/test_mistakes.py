"""What goes wrong is said once, with the place."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.compiled.count import count, depends_on_data
from pipeline.compiled.decode import decode
from pipeline.compiled.launch import Space, execute, prepare
from pipeline.errors import LaunchError, MachineCodeError, ModelError, OutOfRangeError, ToolError
from pipeline.listing_files import compiled, read_listing, twin_listing

LISTINGS = Path(__file__).parent / "listings"
N = 128


def program(name="k03_smem", change=lambda text: text, where=None):
    listing = read_listing(where or twin_listing(name, "sm_80"))
    lines = tuple(replace(line, text=change(line.text)) for line in listing.lines)
    return decode(replace(listing, lines=lines))


def product(code, block=1024):
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((N, N), dtype=np.float32) for _ in range(2))
    c = np.zeros_like(a)
    execute(prepare(code, (N // 32, N // 32), block, (a, b, c, N, N, N)))
    return np.abs(c - a.astype(float) @ b).max()


def test_execute__corrupted_offset_in_shared_memory_gives_a_wrong_result():
    assert product(program()) < 1e-4
    wrong = program(change=lambda text: text.replace("+0x10]", "+0x20]"))
    assert product(wrong) > 0.1


def test_execute__offset_outside_an_array_names_instruction_and_thread():
    wrong = program(change=lambda text: re.sub(r"(STG.E .R\d+.64)", r"\1+0x10000", text))
    with pytest.raises(OutOfRangeError) as caught:
        product(wrong)
    message = str(caught.value)
    assert "STG.E" in message
    assert "k03_smem.cu:" in message
    assert "thread (0, 0, 0) of block (0, 0, 0) moves 4 bytes at byte 65536 of array" in message
    assert "has 65536 bytes" in message


def test_execute__misaligned_access_is_refused():
    wrong = program(change=lambda text: re.sub(r"(STG.E .R\d+.64)", r"\1+0x2", text))
    with pytest.raises(OutOfRangeError, match="is no multiple of 4"):
        product(wrong)


def test_execute__unknown_modifier_is_named_with_its_place():
    wrong = program(change=lambda text: text.replace("MOV R19, 0x4", "MOV.U33 R19, 0x4"))
    with pytest.raises(MachineCodeError, match=r"0x\w+, k03_smem.cu:\d+: MOV.U33 .*not mod"):
        product(wrong)


def test_execute__barrier_that_some_never_reach_is_no_endless_loop():
    wrong = program(change=lambda text: re.sub(r"(BAR.SYNC.* 0x0)", r"\1, 0x800", text))
    with pytest.raises(MachineCodeError, match="8192 threads wait for others that never come"):
        product(wrong)


def test_execute__waiting_for_what_never_comes_ends_with_the_place():
    code = program(where=LISTINGS / "checked_sm_80.sass")
    with pytest.raises(MachineCodeError, match=r"checked.cu:4.*thread \(0, 0, 0\).*never ends"):
        execute(prepare(code, 1, 32, (np.zeros(1, np.int32), np.zeros(32, np.int32))))


def test_execute__trap_names_the_thread():
    numbers = np.where(np.arange(32) == 5, -1, 1).astype(np.int32)
    code = program(where=LISTINGS / "checked_sm_80.sass")
    with pytest.raises(MachineCodeError, match=r"thread \(5, 0, 0\) of block .* reaches a trap"):
        execute(prepare(code, 1, 32, (np.ones(1, np.int32), numbers)))


@pytest.mark.parametrize("name", ["turned_sm_80", "turned_sm_120"])
def test_execute__shared_memory_ends_where_the_block_has_no_more(name):
    code = program(where=LISTINGS / f"{name}.sass")
    launch = prepare(code, 1, (32, 8), (*[np.zeros((32, 32), np.float32)] * 2, 32, 32, 32))
    with pytest.raises(OutOfRangeError, match=r"byte \d+ of \d+ bytes of shared memory"):
        execute(launch)


def test_decode__lines_of_a_source_file_that_is_not_listed_are_noticed():
    listing = read_listing(twin_listing("k03_smem", "sm_80"))
    with pytest.raises(MachineCodeError, match="lines name source files that its head does not"):
        decode(replace(listing, files=()))


@pytest.mark.parametrize("kept", [slice(0, 0), slice(0, 60), slice(1, None)])
def test_decode__missing_lines_are_noticed(kept):
    listing = read_listing(twin_listing("k03_smem", "sm_80"))
    with pytest.raises(MachineCodeError, match="instructions are missing from 0x"):
        decode(replace(listing, lines=listing.lines[kept]))


def test_decode__call_of_the_drivers_functions_is_explained():
    with pytest.raises(MachineCodeError, match="such as printf, assert or malloc"):
        program(change=lambda text: text.replace("MOV R19, 0x4", "LEPC R19"))


def test_execute__unknown_kind_of_branch_is_refused():
    wrong = program(change=lambda text: text.replace("BRA `", "BRA.XYZ `"))
    with pytest.raises(MachineCodeError, match="modifier XYZ of BRA is not modelled"):
        product(wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("LDS R19, [R4+03170]", r"LDS R19, .*: its operands cannot be read"),
        ("IADD3 R1", r"IADD3 R1: an instruction with these operands is not modelled"),
        ("ISETP.GE.AND P0, PT, R0", r"ISETP.GE.AND P0, PT, R0: an instruction with these operands"),
    ],
)
def test_execute__instruction_with_wrong_operands_is_named_with_its_place(wrong, said):
    with pytest.raises(MachineCodeError, match=r"0x\w+, k03_smem.cu:\d+: " + said):
        product(program(change=lambda text: text.replace("MOV R19, 0x4", wrong)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2), "2 arguments, but the kernel takes 6"),
        (("x", 0, 0, 1, 1, 1), "argument 0: str, allowed are arrays"),
        ((np.zeros(4), 0, 0, np.zeros(4), 1, 1), "argument 3: an array for a parameter of 4 bytes"),
        ((0, 0, 0, 2**40, 1, 1), "argument 3: 1099511627776 does not fit a parameter of 4 bytes"),
        ((0, 0, 0, np.float64(1), 1, 1), "argument 3: float64 of 8 bytes for a parameter of 4"),
        ((np.zeros((4, 4)).T, 0, 0, 1, 1, 1), "argument 0: an array that is not contiguous"),
        ((np.float32(1), 0, 0, 1, True, 1), "argument 0: float32.*; argument 4: bool"),
    ],
)
def test_prepare__arguments_that_do_not_fit_are_named(arguments, message):
    with pytest.raises(LaunchError, match=message):
        prepare(program(), 1, 32, arguments)


def test_prepare__block_and_grid_have_limits():
    with pytest.raises(LaunchError, match="at most 256 are allowed by its launch bounds"):
        prepare(program("k06_vectorized"), 1, 512, (0, 0, 0, 1, 1, 1))
    with pytest.raises(LaunchError, match=r"block \(2048,\) is not allowed"):
        prepare(program(), 1, (2048,), (0, 0, 0, 1, 1, 1))
    with pytest.raises(LaunchError, match="grid"):
        prepare(program(), (1, 70000), 32, (0, 0, 0, 1, 1, 1))


def test_count__out_of_range_is_found_without_values():
    launch = prepare(program(), (4, 4), 1024, (Space(4), Space(65536), Space(65536), N, N, N))
    with pytest.raises(OutOfRangeError, match="array argument 0, which has 4 bytes"):
        count(launch)


def test_count__says_why_it_needs_values():
    code = program(where=LISTINGS / "histogram_sm_80.sass")
    assert "depends on numbers that are loaded, first at 0x" in depends_on_data(code)
    with pytest.raises(ModelError, match="must be run with values"):
        count(prepare(code, 1, 32, (Space(9), Space(1024), 9)))


def test_compiled__missing_files_and_entries(tmp_path):
    with pytest.raises(ToolError, match="there is no such file"):
        compiled(tmp_path / "none.cu", "sm_80", "k")
    path = twin_listing("k03_smem", "sm_80")
    with pytest.raises(MachineCodeError, match="no kernel k04; there are k03_smem"):
        compiled(path, "sm_80", "k04")
    with pytest.raises(MachineCodeError, match="compiled for sm_80, not for sm_90"):
        compiled(path, "sm_90", "k03_smem")
