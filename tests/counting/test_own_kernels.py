"""Kernels of the user's own: what passes, what is said of everything else, and what is counted."""

import sys

import numpy as np
import pytest
import xarray as xr

from pipeline.counting.extrapolate import extrapolate
from pipeline.counting.own_check import Functions, check, compare, draw_inputs
from pipeline.counting.own_kernels import gather, own_launches, simulate_own, verdict
from pipeline.errors import KernelError, LaunchError
from pipeline.kernels.launches import FACTS
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.user_file import blame
from pipeline.vocab.counters import COUNTERS

HERE = "test_own_kernels.py"
SIZES = (32, 64, 96, 128, 160)


def own(name="mine", **changes):
    given = {
        "file": HERE,
        "kernel": "kernel",
        "specification": "specification",
        "inputs": {"x": ("n", "n")},
        "options": {},
        "block": (32, 8),
        "space": ("n", "n"),
        "tile": (32, 8),
        "multiple": 1,
        "tolerance": 1e-4,
    }
    return OwnKernel(name, **(given | changes))


def functions(kernel, specification):
    return Functions(kernel, specification, lambda error: blame(error, HERE))


def doubled(x):
    return 2 * x


def place(blk, n):
    row, col = blk.by * 8 + blk.ty, blk.bx * 32 + blk.tx
    return (row < n) & (col < n), row * n + col


def double(blk, x, out, n, times=2):
    inside, at = place(blk, n)
    with blk.where(inside):
        blk.store(out, at, times * blk.load(x, at))


def line(function, offset):
    return f"{HERE}:{function.__code__.co_firstlineno + offset}"


def failure(kernel, specification=doubled, n=64, **changes):
    with pytest.raises(KernelError) as caught:
        check(own(**changes), functions(kernel, specification), n, 0)
    return str(caught.value)


def simulated(kernel=double, specification=doubled, name="mine", sizes=SIZES, **changes):
    loaded = functions(kernel, specification)
    return simulate_own(own(name, **changes), lambda: loaded, sizes, sizes[-1], 0)


# What passes


@pytest.mark.parametrize("n", [1, 7, 31, 33, 64, 100])
def test_check__a_right_kernel_passes_at_any_size(n):
    done = check(own(), functions(double, doubled), n, 0)
    assert done.max_abs_error == 0
    assert done.compulsory_bytes == 2 * n * n * 4


def test_check__options_reach_the_kernel():
    check(own(options={"times": 3}), functions(double, lambda x: 3 * x), 64, 0)
    assert "wrong result" in failure(double, options={"times": 3})


def test_check__shapes_of_inputs_and_output_may_differ():
    def row_sums(blk, x, scale, out, n):
        at, total = blk.bx * 64 + blk.tx, blk.zeros()
        for col in range(n):
            blk.ffma(blk.load(x, at * n + col), blk.load(scale, col), total)
        blk.store(out, at, total)

    kernel = own(inputs={"x": ("n", "n"), "scale": ("n",)}, block=(64,), space=("n",), tile=(64,))
    done = check(kernel, functions(row_sums, lambda x, scale: x @ scale), 128, 0)
    assert 0 < done.max_abs_error < 1e-4
    assert done.launched.counters["fma"] == 128 * 128
    assert done.compulsory_bytes == (128 * 128 + 128 + 128) * 4


def test_check__a_single_number_may_come_out():
    def total(blk, x, out, n):
        blk.atomic_add(out, blk.tid * 0, blk.load(x, blk.bx * 64 + blk.tx))

    kernel = own(inputs={"x": ("n*n",)}, block=(64,), space=("n*n",), tile=(64,))
    check(kernel, functions(total, np.sum), 64, 0)


def test_check__type_of_the_output_is_that_of_the_specification():
    def positive(blk, x, out, n):
        inside, at = place(blk, n)
        with blk.where(inside):
            blk.store(out, at, blk.load(x, at) > 0)

    done = check(own(), functions(positive, lambda x: x > 0), 64, 0)
    assert done.compulsory_bytes == 64 * 64 * (4 + 1)


def test_check__inputs_are_fresh_for_the_specification_and_each_launch():
    def in_place(blk, x, out, n):
        inside, at = place(blk, n)
        with blk.where(inside):
            blk.store(x, at, 2 * blk.load(x, at))
            blk.store(out, at, blk.load(x, at))

    def greedy(x):
        x *= 2
        return x

    done = check(own(), functions(in_place, greedy), 64, 0)
    # x is read and written, out is written.
    assert done.compulsory_bytes == 3 * 64 * 64 * 4


def test_draw_inputs__same_seed_same_values_and_inputs_differ():
    kernel = own(inputs={"x": ("n", "n"), "y": ("n", "n")})
    one, two = draw_inputs(kernel, 32, 0), draw_inputs(kernel, 32, 0)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(*one)
    assert not np.array_equal(one, draw_inputs(kernel, 32, 1))
    assert one[0].dtype == np.float32


# What fails


def test_check__wrong_result_names_element_line_block_and_thread():
    def kernel(blk, x, out, n):
        inside, at = place(blk, n)
        with blk.where(inside):
            blk.store(out, at, 2 * blk.load(x, at))
        with blk.where((blk.by == 3) & (blk.bx == 1) & (blk.tid == 37)):
            blk.store(out, at, blk.zeros())

    said = failure(kernel)
    # Thread 37 of block (1, 3): row 3 * 8 + 1, column 32 + 5.
    assert said.startswith(f"mine ({HERE}) at n = 64: wrong result: out[25, 37] is 0, stored last")
    assert f"at {line(kernel, 5)}: block (1, 3, 0), thread 37 (warp 1, lane 5)" in said
    assert "specification gives " in said
    assert "(1 of 4096 elements differ)" in said


def test_check__element_that_nobody_stored_is_said_so():
    def kernel(blk, x, out, n):
        inside, at = place(blk, n)
        with blk.where(inside & (blk.tid != 9)):
            blk.store(out, at, 2 * blk.load(x, at))

    said = failure(kernel)
    assert "out[0, 9] is 0, which no thread has stored" in said
    assert "(16 of 4096 elements differ)" in said


def test_check__race_names_line_block_warps_and_word():
    def kernel(blk, x, out, n):
        tile = blk.shared("tile", 256)
        at = place(blk, n)[1]
        blk.sstore(tile, blk.tid, blk.load(x, at))
        blk.store(out, at, 2 * blk.sload(tile, (blk.tid + 32) % 256))

    said = failure(kernel)
    assert f"read_after_write at {line(kernel, 4)}: block (0, 0, 0), warp 0, tile[32]" in said
    assert "what warp 1 wrote" in said
    assert "wrong result" in said  # both are told


def test_check__access_beyond_an_array_names_line_block_and_thread():
    def kernel(blk, x, out, n):
        at = place(blk, n)[1]
        blk.store(out, at, 2 * blk.load(x, at + 1))

    said = failure(kernel)
    assert f"mine ({HERE}) at n = 64: {line(kernel, 2)}: block (1, 7, 0), thread 255 " in said
    assert "index 4096 of x, which holds 4096" in said


def test_check__a_mistake_in_python_names_the_line():
    def kernel(blk, x, out, n):
        blk.store(out, blk.tid, nothing_of_that_name)  # noqa: F821

    said = failure(kernel)
    assert said.endswith(
        f"{line(kernel, 1)}: NameError: name 'nothing_of_that_name' is not defined"
    )


def test_check__a_mistake_in_the_specification_names_the_line():
    def specification(x):
        return x.no_such_method()

    assert f"{line(specification, 1)}: AttributeError" in failure(double, specification)


@pytest.mark.parametrize("given", [None, "text", [1, None]])
def test_check__specification_must_give_numbers(given):
    assert "it must give an array of numbers" in failure(double, lambda x: given)


@pytest.mark.parametrize("given", [[], np.zeros((3, 0))])
def test_check__a_specification_that_gives_nothing_checks_nothing(given):
    assert "gives an empty array, of shape (" in failure(
        lambda blk, x, out, n: None, lambda x: given
    )


def test_check__a_kernel_that_ends_the_run_fails():
    def kernel(blk, x, out, n):
        sys.exit(0)

    assert failure(kernel).endswith(f"{line(kernel, 1)}: SystemExit: 0")
    assert "SystemExit" in failure(double, lambda x: sys.exit(0))


def test_check__an_error_that_says_nothing_shows_its_line():
    def kernel(blk, x, out, n):
        raise RuntimeError

    assert failure(kernel).endswith(
        f"{line(kernel, 1)}: RuntimeError: raised by `raise RuntimeError`"
    )


def test_check__an_error_inside_the_simulator_names_both_places():
    def kernel(blk, x, out, n):
        blk.store(out, blk.tid, np.full(3, 1.0) @ np.full(2, 1.0))

    assert f"{line(kernel, 1)}: ValueError: " in failure(kernel)

    def another(blk, x, out, n):
        blk.load(x, object())

    said = failure(another)
    assert f"{line(another, 1)}: " in said


# How results are compared


@pytest.mark.parametrize(
    ("output", "expected", "wrong"),
    [
        ([1.0, 100.0], [1.009, 100.0], [False, False]),  # a share of the largest value, 100
        ([1.0, 100.0], [1.011, 100.0], [True, False]),
        ([np.nan, np.inf, -np.inf], [np.nan, np.inf, np.inf], [False, False, True]),
        ([np.nan, 1.0], [1.0, 1.0], [True, False]),
        ([1.0], [np.nan], [True]),
        ([0.0, 1e-30], [0.0, 0.0], [False, True]),
        ([], [], []),
    ],
)
def test_compare__floats_within_tolerance_of_the_largest(output, expected, wrong):
    found = compare(np.array(output), np.array(expected), 1e-4)[1]
    assert found.tolist() == wrong


def test_compare__whole_numbers_must_agree():
    largest, wrong = compare(np.array([1, 10_001]), np.array([1, 10_000]), 1.0)
    assert largest == 1
    assert wrong.tolist() == [False, True]


# What is counted


def test_simulate__counts_every_size_that_the_kernel_takes():
    counts = simulated(multiple=64, sizes=(32, 64, 128, 192, 256, 320))
    assert counts["failure"].item() == ""
    assert counts["simulated"].values.tolist() == [[False, *[True] * 5]]
    n = counts["n"].values
    expected = np.where(n % 64 == 0, n * n // 32, 0)
    for name in ("gld_instr", "gst_instr"):
        np.testing.assert_array_equal(counts[name].values[0], expected)
    np.testing.assert_array_equal(counts["compulsory_bytes"].values[0], expected * 32 * 8)
    assert counts.attrs == {"wavefronts": "lecture"}


def test_simulate__a_kernel_that_fails_is_a_result_with_the_reason():
    counts = simulated(specification=lambda x: 3 * x)
    assert not counts["simulated"].any()
    assert all(not counts[name].any() for name in COUNTERS)
    with pytest.raises(KernelError, match=r"^mine .* wrong result: .*own_kernels\.mine: false$"):
        verdict(counts)


def test_simulate__tries_a_size_that_the_tiles_do_not_divide():
    def unguarded(blk, x, out, n):
        at = place(blk, n)[1]
        blk.store(out, at, 2 * blk.load(x, at))

    said = simulated(unguarded)["failure"].item()
    assert "at n = 33: " in said
    assert "which holds 1089" in said
    assert "It says that it takes every n" in said
    assert "own_kernels.mine.multiple" in said
    assert simulated(unguarded, multiple=32)["failure"].item() == ""


def test_simulate__counters_that_are_no_cubic_are_refused_with_the_reason():
    def kernel(blk, x, out, n):
        double(blk, x, out, n)
        for _ in range(n.bit_length()):
            blk.sync()

    said = simulated(kernel)["failure"].item()
    assert said.startswith("mine: ")
    assert "polynomial of degree three" in said


def test_simulate__shared_memory_that_depends_on_n_is_refused():
    def kernel(blk, x, out, n):
        blk.shared("row", n)
        double(blk, x, out, n)

    said = simulated(kernel)["failure"].item()
    assert "128 bytes at n = 32, 256 bytes at n = 64" in said
    assert "must not depend on n" in said


def test_simulate__a_file_that_does_not_load_is_a_result_with_the_reason():
    def broken():
        raise KernelError("mine: no such luck")

    counts = simulate_own(own(), broken, SIZES, 160, 0)
    assert counts["failure"].item() == "mine: no such luck"


@pytest.mark.parametrize(("rule", "wavefronts"), [("lecture", 2), ("hardware", 1)])
def test_simulate__wavefronts_follow_the_rule(rule, wavefronts):
    def kernel(blk, x, out, n):
        double(blk, x, out, n)
        tile = blk.shared("tile", 64)
        with blk.where(blk.warp == 0):
            blk.sstore(tile, blk.lane * 2, blk.zeros(2), width=2)
        blk.sync()
        with blk.where(blk.warp == 0):
            blk.sload(tile, blk.lane // 2 * 2, width=2)

    loaded = functions(kernel, doubled)
    counts = simulate_own(own(), lambda: loaded, SIZES, 160, 0, rule)
    per_load = counts["lds_wavefronts"] / counts["lds_instr"]
    assert per_load.values.tolist() == [[wavefronts] * 5]


# What is gathered


def test_gather__leaves_out_what_failed_and_says_so():
    parts = [
        simulated(name="second"),
        simulated(name="bad", specification=lambda x: x),
        simulated(name="first"),
    ]
    together = gather(parts, {"first": "First", "bad": "Bad", "second": "Second"})
    assert together.attrs["failed"] == ["bad"]
    assert together["kernel"].values.tolist() == ["second", "first"]
    assert together["kernel_number"].values.tolist() == [3, 1]
    assert together["kernel_label"].values.tolist() == ["Second", "First"]
    assert all(together[name].attrs["long_name"] for name in together.variables)


def test_gather__nothing_that_passed_is_an_error():
    with pytest.raises(KernelError, match=r"no kernel of your own passed its check \(mine\)"):
        gather([simulated(specification=lambda x: x)], {"mine": "Mine"})


DECLARED = {
    "mine": {"kernel_number": 1, "kernel_label": "x"} | dict.fromkeys(FACTS, 256),
}


def test_own_launches__take_shared_memory_from_the_run():
    def kernel(blk, x, out, n):
        blk.shared("tile", 100)
        double(blk, x, out, n)

    counts = gather([simulated(kernel)], {"mine": "Mine"})
    assert own_launches(counts, DECLARED | {"failed": {}})["smem_bytes"].item() == 400


def test_own_launches__need_the_compute_capability_of_their_instructions():
    def kernel(blk, x, out, n):
        tile = blk.shared("tile", 256, "f2")
        blk.sstore(tile, blk.tid, 0)
        blk.sync()
        blk.ldmatrix(tile, blk.lane % 8 * 8)
        double(blk, x, out, n)

    for body, capability in ((double, 0), (kernel, 75)):
        counts = gather([simulated(body)], {"mine": "Mine"})
        assert own_launches(counts, DECLARED)["capability_min"].item() == capability


def test_simulate__a_kernel_that_does_not_take_the_held_out_size_holds_out_its_largest():
    loaded = functions(double, doubled)
    sizes = (64, 96, 128, 192, 256, 320)
    counts = simulate_own(own(multiple=64), lambda: loaded, sizes, 96, 0)
    assert counts["failure"].item() == ""
    carried = extrapolate(gather([counts], {"mine": "Mine"}), [4096], 96)
    assert carried["held_out_n"].values.tolist() == [320]


def test_extrapolate__carries_traffic_and_needs_no_multiply_add():
    counts = gather([simulated()], {"mine": "Mine"})
    carried = extrapolate(counts, [4096], 160)
    assert carried["method"].values.tolist() == ["polynomial"]
    assert carried["compulsory_bytes"].item() == 2 * 4096**2 * 4
    assert carried["gst_instr"].item() == 4096**2 // 32
    assert isinstance(carried, xr.Dataset)


def test_own_kernel__refuses_a_block_that_is_too_large():
    with pytest.raises(KernelError, match="1024") as caught:
        check(own(block=(64, 32)), functions(double, doubled), 64, 0)
    assert isinstance(caught.value.__cause__, LaunchError)
