"""Compiled kernels of the user's own: run, counted, checked; every way to fail says why."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pipeline.counting import own_cuda_run
from pipeline.counting.own_cuda import CudaArgument, OwnCuda, UserFunction, drawn
from pipeline.counting.own_cuda_gather import gather_cuda, gather_rows, verdict
from pipeline.counting.own_cuda_run import run_own_cuda
from pipeline.errors import KernelError, ToolError
from pipeline.listing_files import compiled

LISTINGS = Path(__file__).parents[1] / "compiled/listings"


def array(name, shape, fill="random", output=False, kind="float32"):
    return CudaArgument(name, kind, shape, fill, output)


def number(name, value, kind="int32"):
    return CudaArgument(name, kind, (), (value,))


ROWS, COLUMNS = 70, 45


def turned(**changes):
    """The transpose of a matrix; what is given replaces fields, or arguments by their name."""
    arguments = {
        "x": array("x", (ROWS, COLUMNS)),
        "out": array("out", (COLUMNS, ROWS), (0.0,), output=True),
        "rows": number("rows", ROWS),
        "columns": number("columns", COLUMNS),
    }
    fields = {name: value for name, value in changes.items() if name not in arguments}
    arguments |= {name: value for name, value in changes.items() if name in arguments}
    grid = (-(-COLUMNS // 32), -(-ROWS // 32))
    own = OwnCuda(
        "turned",
        "transpose",
        "transpose",
        grid,
        (32, 8),
        0,
        tuple(arguments.values()),
        "s.py:right",
    )
    return replace(own, **fields)


def is_at(array, row, column):
    """One at a place of an array, zero elsewhere."""
    found = np.zeros_like(array)
    found[row, column] = 1
    return found


FUNCTIONS = {
    "s.py:right": lambda x: x.T,
    "s.py:wrong": lambda x: x.T + 3 * is_at(x.T, 7, 5) + is_at(x.T, 0, 0),
    "s.py:two": lambda x: (x, x),
    "s.py:flat": lambda x: x.ravel(),
    "s.py:broken": lambda x: x.no_such_thing,
    "s.py:ones": lambda shape, generator: np.ones(shape),
    "s.py:short": lambda shape, generator: np.ones(3),
}


def load(label):
    body = FUNCTIONS[label]
    names = body.__code__.co_varnames[: body.__code__.co_argcount]
    return UserFunction(label, names, body, lambda error: f"s.py:1: {error}")


def run(own, architecture="sm_80"):
    path = LISTINGS / f"{own.file}_{architecture}.sass"
    return run_own_cuda(
        own, partial(compiled, path, architecture, own.entry), load, architecture, 0
    )


def failure(own):
    return run(own)[0]["failure"].item()


def test_run__small_launch_is_run_checked_and_counted():
    counts, rows = run(turned())
    assert counts["failure"].item() == ""
    assert counts["how"].item() == "run"
    assert counts["checked"].item()
    assert counts["max_abs_error"].item() == 0
    assert counts["compulsory_bytes"].item() == 2 * 4 * 70 * 45
    assert counts["instructions"].sum().item() == counts["warp_instr"].item()
    assert rows["executed"].sum().item() == counts["warp_instr"].item()
    assert rows.sizes["hazard"] == 0


def test_run__of_a_large_launch_only_counts_which_are_those_of_a_run(monkeypatch):
    ran = run(turned())[0]
    monkeypatch.setattr(own_cuda_run, "MOST_RUN", 0)
    counted = run(turned())[0]
    assert counted["how"].item() == "counted"
    assert not counted["checked"].item()
    differing = {
        name for name in ran.data_vars if not ran[name].identical(counted[name])
    }  # fmt: skip
    assert differing == {"how", "checked", "max_abs_error"}


def test_run__without_contents_is_counted_at_any_size():
    n = 32 * 800
    own = turned(
        x=array("x", (n, n), "none"), out=array("out", (n, n), "none", output=True),
        rows=number("rows", n), columns=number("columns", n), grid=(800, 800),
    )  # fmt: skip
    counts = run(own)[0]
    assert counts["how"].item() == "counted"
    assert counts["gst_sectors"].item() == n * n // 8


def test_run__worst_element_is_named_with_the_thread_that_stored_it():
    said = failure(turned(specification="s.py:wrong"))
    assert "wrong result: out[7, 5] is " in said
    assert "worst of 2 wrong elements of 3150" in said
    assert "transpose.cu:10" in said
    # Rows of the output are columns of blocks: block (0, 0), fifth lane of the row.
    assert "thread (5, 7, 0) of block (0, 0, 0)" in said


def test_run__output_that_nobody_stores_is_said_to_be_as_before():
    said = failure(turned(grid=(1, 1)))
    assert ", as before the launch" in said
    assert said.endswith("nobody stores it")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"specification": "s.py:two"}, ["gives 2 arrays; there are 1 outputs: out"]),
        ({"specification": "s.py:flat"}, ["of shape (3150,) for out"]),
        ({"specification": "s.py:broken"}, ["s.py:broken: s.py:1: ", "no_such_thing"]),
        ({"entry": "nope"}, ["there is no kernel nope; there are transpose"]),
        ({"block": (1024, 2)}, ["a block of 2048 threads; at most 1024"]),
        ({"rows": array("rows", (3,))}, ["argument rows: an array for a parameter of 4 bytes"]),
        ({"rows": number("rows", 1, "int64")}, ["argument rows: bytes of 8 bytes for a param"]),
        ({"x": number("x", 1)}, ["argument x: bytes of 4 bytes for a parameter of 8"]),
        ({"x": array("x", (70, 44))}, ["moves 4 bytes at byte 12320 of array argument 0"]),
        ({"x": array("x", (70, 45), "s.py:short")}, ["gives an array of shape (3,) for x"]),
        (
            {"out": array("out", (45, 70), (0.0,))} | {"specification": ""},
            ["the kernel changes out, which is no output"],
        ),
        (
            {"block": (64, 32), "rows": array("rows", (3,)), "x": number("x", 1)},
            ["a block of 2048", "argument x: bytes", "argument rows: an array"],
        ),
    ],
)
def test_run__every_mistake_has_a_message(changes, parts):
    said = failure(turned(**changes))
    assert all(part in said for part in parts), said
    assert "Traceback" not in said


def test_run__wrong_number_of_arguments_is_one_message():
    said = failure(replace(turned(), arguments=turned().arguments[:2]))
    assert "2 arguments, but the kernel takes 4, of 8, 8, 4, 4 bytes" in said


def collatz(fill):
    arguments = (
        array("start", (300,), fill, kind="uint32"),
        array("steps", (300,), (0,), output=True, kind="int32"),
        number("n", 300),
    )
    return OwnCuda("collatz", "collatz", "collatz", (3,), (128,), 0, arguments)


def test_run__what_depends_on_data_is_run_and_needs_data():
    counts = run(collatz((1, 5000)))[0]
    assert counts["failure"].item() == ""
    assert counts["how"].item() == "run"
    said = failure(collatz("none"))
    assert "depends on numbers that are loaded, first at 0x" in said
    assert "give own_cuda.collatz.arguments.start another fill than none" in said


def test_run__what_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(own_cuda_run, "MOST_ON_DATA", 10)
    monkeypatch.setattr(own_cuda_run, "execute", partial(own_cuda_run.execute, batch_lanes=128))
    assert "more than 10 warp instructions" in failure(collatz((1, 5000)))


def hazardous(mode, hazards="refuse"):
    arguments = (
        array("x", (256,)), array("out", (256,), output=True, fill=(0.0,)), number("n", 256),
        number("mode", mode),
    )  # fmt: skip
    return OwnCuda("hazards", "hazards", "hazards", (2,), (128,), 0, arguments, hazards=hazards)


def test_run__hazards_are_failures_with_counts_or_only_shown():
    refused, rows = run(hazardous(1))
    assert "read_after_write at hazards.cu:24" in refused["failure"].item()
    assert "(in all: 2 read_after_write)" in refused["failure"].item()
    assert refused["counted"].item()
    assert rows["hazard_kind"].values.tolist() == ["read_after_write"]
    shown, _ = run(hazardous(1, "report"))
    assert shown["failure"].item() == ""
    assert shown["hazard_count"].item() == 2
    assert "2 hazards reported" in verdict([shown])


def test_run__reads_of_what_nobody_wrote_are_shown_and_fail_nothing():
    """The compiler does it by itself: k08 for sm_86 loads the padding with the elements beside."""
    counts, rows = run(hazardous(3))
    assert counts["failure"].item() == ""
    assert rows["hazard_kind"].values.tolist() == ["uninitialised_read"]


def test_run__missing_tool_is_a_failure_like_others():
    def nowhere():
        raise ToolError("nvcc is not installed; get it")

    counts, rows = run_own_cuda(turned(), nowhere, load, "sm_86", 0)
    assert counts["failure"].item() == "nvcc is not installed; get it"
    assert not counts["counted"].item()
    assert dict(rows.sizes) == {"instruction": 0, "hazard": 0}


def test_verdict__says_the_same_reason_once():
    failed = [run(turned(entry="nope"), arch)[0] for arch in ("sm_80", "sm_120")]
    with pytest.raises(KernelError, match=r"own_cuda.turned failed:\n.*sm_80.*no kernel nope"):
        verdict(failed)
    same = [one.assign(failure=one["failure"].copy(data=[["why"]])) for one in failed]
    with pytest.raises(KernelError, match="sm_80, sm_120: why\nAll other kernels go on"):
        verdict(same)


def test_gather__keeps_order_and_marks_what_is_missing():
    runs = [run(collatz((1, 99)), "sm_120"), run(turned(), "sm_80"), run(turned(), "sm_120")]
    labels = {"turned": "turned round", "collatz": "collatz"}
    counts = gather_cuda([one for one, _ in runs], labels)
    assert counts["kernel"].values.tolist() == ["turned", "collatz"]
    assert counts["arch"].values.tolist() == ["sm_80", "sm_120"]
    assert counts["counted"].values.tolist() == [[True, True], [False, True]]
    lines, memory = gather_rows([rows for _, rows in runs], labels)
    assert lines["requests"].sum() == memory["requests"].sum()
    total = sum(int(rows["requests"].sum()) for _, rows in runs)
    assert memory["requests"].sum() == total
    assert set(memory["access"].values) <= {
        "global loads", "global stores", "shared loads", "shared stores"
    }  # fmt: skip


def test_gather__with_nothing_counted_is_refused():
    failed = run(turned(entry="nope"))[0]
    with pytest.raises(KernelError, match="no kernel of own_cuda could be launched"):
        gather_cuda([failed], {"turned": "turned"})


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (array("a", (2, 2), "range", kind="int16"), [[0, 1], [2, 3]]),
        (array("a", (2,), (7.0,), kind="float16"), [7, 7]),
        (array("a", (2,), "s.py:ones", kind="bfloat16"), [1, 1]),
    ],
)
def test_drawn__fills_as_asked(one, expected):
    (made,) = drawn([one], 0, load)
    assert made.dtype == one.dtype
    np.testing.assert_array_equal(made.astype(float), expected)


@pytest.mark.parametrize("kind", ["int8", "uint64", "float16", "bfloat16", "float64"])
def test_drawn__random_numbers_have_their_type_and_ends_and_repeat(kind):
    arguments = [array("a", (1000,), kind=kind), array("b", (1000,), (2, 5), kind=kind)]
    first, again = drawn(arguments, 3, load), drawn(arguments, 3, load)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == arguments[0].dtype
    numbers = first[1].astype(float)
    assert numbers.min() >= 2
    assert numbers.max() <= 5
    assert len(np.unique(numbers)) > 3


def test_drawn__structures_are_their_bytes():
    pair = CudaArgument("p", "int16", (), (1, -2))
    assert drawn([pair, number("m", 2**63, "uint64")], 0, load) == [
        b"\x01\x00\xfe\xff", (2**63).to_bytes(8, "little")
    ]  # fmt: skip
