"""Counts of full simulations: right products, sizes that do not fit, the two wavefront rules."""

import numpy as np
import pytest

from pipeline.counting.simulate import factors, simulate
from pipeline.errors import ModelError
from pipeline.kernels.registry import KERNELS
from pipeline.vocab.counters import COUNTERS


def run(name, sizes, **arguments):
    kernel = KERNELS[name]
    return simulate(kernel, kernel.options(), sizes, seed=0, **arguments)


def test_simulate__counts_every_size_that_fits_and_marks_the_others():
    counts = run("k05_blocktile_2d", (96, 128))
    assert list(counts.simulated.isel(kernel=0)) == [False, True]
    assert int(counts.fma.isel(kernel=0, n=1)) == 128**3
    assert all(int(counts[name].isel(kernel=0, n=0)) == 0 for name in COUNTERS)
    assert np.isnan(counts.max_abs_error.isel(kernel=0, n=0))
    assert 0 < counts.max_abs_error.isel(kernel=0, n=1) < 1e-3


def test_simulate__says_which_rule_it_counted_by():
    assert run("k01_naive", (32,)).attrs == {"wavefronts": "lecture"}
    assert run("k01_naive", (32,), rule="hardware").attrs == {"wavefronts": "hardware"}


def test_simulate__the_rule_changes_wavefronts_and_nothing_else():
    lecture = run("k06_vectorized", (128,))
    hardware = run("k06_vectorized", (128,), rule="hardware")
    changed = {name for name in lecture.data_vars if (lecture[name] != hardware[name]).any()}
    assert changed == {"lds_wavefronts", "smem_wavefronts", "ideal_smem_wavefronts"}
    # Lanes pair up on A: two wavefronts instead of four for each of its 128-bit loads.
    warps, per_step = 8, 2 * (4 - 2)
    fewer = (lecture.lds_wavefronts - hardware.lds_wavefronts).item()
    assert fewer == 128 * warps * per_step


def test_simulate__refuses_a_rule_that_does_not_exist():
    with pytest.raises(ModelError, match="'textbook' is unknown; allowed: lecture, hardware"):
        run("k03_smem", (32,), rule="textbook")


def test_factors__same_seed_and_size_give_the_same_matrices():
    np.testing.assert_array_equal(factors(32, 7), factors(32, 7))
    assert (factors(32, 7)[0] != factors(32, 8)[0]).any()
