"""Simulated counters against a profiler's: close where they should be, explained where not."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.counting.measured_counters import COMPILED, compare_counters
from pipeline.counting.nsight import EQUAL, METRICS
from pipeline.errors import LaunchError
from pipeline.hardware.gpus import gpus
from pipeline.hardware.sheet import load_sheets
from pipeline.kernels.matmul import counts
from pipeline.measured.kernels import nsight_counters

DATA = Path(__file__).parents[2] / "data"
LOADS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
REGISTERS = "Block Limit Registers [block]"


@pytest.fixture(scope="module")
def figures():
    return gpus(load_sheets(DATA / "gpus", ["a100_sxm_80gb", "rtx_a6000"]))


@pytest.fixture(scope="module")
def profiled():
    return nsight_counters(DATA / "measured/nsight_counters_a100.csv")


@pytest.fixture(scope="module")
def compared(profiled, figures):
    return compare_counters(profiled, figures)


def of(dataset, kernel, metric):
    """The one row about a kernel and a metric."""
    found = (dataset.kernel == kernel) & (dataset.metric == metric)
    assert found.sum() == 1
    return dataset.isel(measurement=int(found.values.argmax()))


def changed(profiled, **values):
    """One row of the table, altered."""
    one = profiled.isel(measurement=slice(1)).copy()
    return one.assign({name: ("measurement", [value]) for name, value in values.items()})


# The simulator's numbers are those of the study in which the rule was found.
LOAD_WAVEFRONTS = {
    "k03_smem": (3_221_225_472, 3_221_765_107),
    "k04_blocktile_1d": (1_342_177_280, 1_342_347_365),
    "k05_blocktile_2d": (738_197_504, 738_332_752),
}


@pytest.mark.parametrize("kernel", LOAD_WAVEFRONTS)
def test_load_wavefronts__agree_within_a_thousandth(compared, kernel):
    row = of(compared, kernel, LOADS)
    assert (row.simulated, row.measured) == LOAD_WAVEFRONTS[kernel]
    assert abs(row.ratio - 1) < 1e-3


def test_load_wavefronts__need_the_hardware_rule(profiled):
    for kernel, (simulated, measured) in LOAD_WAVEFRONTS.items():
        record, options = COMPILED[kernel]
        lecture = counts(record, 4096, 4096, 4096, record.options(**options)).counters
        assert lecture["lds_wavefronts"] > 1.08 * measured > 1.08 * simulated


def test_conflicts__of_loads_are_those_that_addresses_make(compared):
    row = of(compared, "k05_blocktile_2d", CONFLICTS)
    assert row.simulated == 301_989_888
    assert abs(row.deviation) < 1e-3
    assert of(compared, "k03_smem", CONFLICTS).simulated == 0


@pytest.mark.parametrize("kernel", COMPILED)
def test_requests__are_instructions_and_equal_once_c_is_read(compared, kernel):
    row = of(compared, kernel, REQUESTS)
    assert row.simulated < row.expected == row.measured
    assert "also reads C" in str(row.explained.item())
    assert str(row.explained.item()).endswith("then equal.")


@pytest.mark.parametrize("kernel", COMPILED)
def test_sectors__are_at_most_a_few_thousandths_fewer(compared, kernel):
    row = of(compared, kernel, SECTORS)
    assert -2e-3 < row.deviation <= 0


def test_every_row__has_a_value_and_words_that_fit_it(compared):
    assert set(compared.metric.values) <= set(METRICS)
    assert not np.isnan(compared.simulated).any()
    for number in range(compared.sizes["measurement"]):
        row = compared.isel(measurement=number)
        said = str(row.explained.item())
        assert said.endswith(".")
        equal = float(row.expected) == float(row.measured)
        rounded = round(float(row.expected), 2) == float(row.measured)
        assert (said == EQUAL) <= (equal or rounded)
        assert (said != EQUAL) <= (not equal or "reads C" in said), said
        assert "unexplained" not in said


def test_register_limit__names_the_registers_that_would_fit(compared):
    said = str(of(compared, "k03_smem", REGISTERS).explained.item())
    assert "2 blocks of 1,024 threads fit if the compiler needs no more than 32." in said


def test_numbers_in_words__follow_the_data(profiled, figures):
    twice = changed(profiled, kernel="k04_blocktile_1d", metric=STORES, measured=2.0 * 67108864)
    said = str(compare_counters(twice, figures).explained.item())
    assert said.startswith("67,108,864 more (100.00%) than the addresses need")


def test_what_nothing_stands_for__says_so_and_has_no_number(profiled, figures):
    for values, said in (
        ({"metric": "sm__cycles_elapsed.max"}, "Nothing in the model stands for this metric."),
        ({"kernel": "k99_magic"}, "Nothing in the model stands for this kernel."),
    ):
        row = compare_counters(changed(profiled, **values), figures)
        assert str(row.explained.item()) == said
        assert np.isnan(row.simulated).all()
        assert np.isnan(row.ratio).all()


def test_gpu__that_takes_no_part_has_counts_and_no_limits(profiled, figures):
    compared = compare_counters(profiled, figures.sel(gpu=["rtx_a6000"]))
    assert np.isnan(of(compared, "k03_smem", REGISTERS).simulated)
    assert "not among gpus" in str(of(compared, "k03_smem", REGISTERS).explained.item())
    assert of(compared, "k03_smem", LOADS).simulated == LOAD_WAVEFRONTS["k03_smem"][0]


def test_size__that_the_kernel_does_not_take_is_refused(profiled, figures):
    with pytest.raises(LaunchError, match="k03_smem: M = 100 must be a positive multiple of 32"):
        compare_counters(changed(profiled, kernel="k03_smem", n=100), figures)
