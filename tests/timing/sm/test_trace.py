"""Traces of compiled kernels: what warps do, and where their lines come from."""

import numpy as np
import pytest

from pipeline.compiled.count import count
from pipeline.compiled.launch import Launch
from pipeline.counting.compiled_counts import square_product, twin
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_twin
from pipeline.timing.sm.origin import block_axes, origin
from pipeline.timing.sm.trace import Trace, trace

X, Y = 1, 2


def launch(kernel: str, n: int) -> Launch:
    return square_product(read_twin(kernel, "sm_86"), twin(KERNELS[kernel]), n)


def executed(one: Trace, instructions: int) -> np.ndarray:
    """How often each instruction runs, with the turns that were left out."""
    often = 1 + one.left_out / one.turns
    found = np.zeros(instructions)
    for path in one.path:
        steps = slice(*one.path_start[path : path + 2])
        np.add.at(found, one.position[steps], often[one.span[steps]])
    return found


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_trace__counts_what_the_executor_counts(kernel: str) -> None:
    n = 1024
    whole = launch(kernel, n)
    one = trace(whole, np.array([0]))
    counted = count(whole)
    np.testing.assert_allclose(
        whole.blocks * executed(one, len(whole.program.instructions)), counted.executed
    )


def test_trace__measures_wavefronts_and_sectors_of_every_access() -> None:
    whole = launch("k06_vectorized", 256)
    one = trace(whole, np.array([0]))
    assert not one.left_out.any()
    counted = count(whole)
    rows = one.row >= 0
    position = np.concatenate([one.position[slice(*one.path_start[p : p + 2])] for p in one.path])
    waves = np.zeros(len(whole.program.instructions))
    np.add.at(waves, position[rows], one.wavefronts[one.row[rows]])
    shared = [item.opcode in ("LDS", "STS") for item in whole.program.instructions]
    np.testing.assert_array_equal(
        whole.blocks * waves[shared], counted.column("wavefronts")[shared]
    )
    assert whole.blocks * sum(int(mask).bit_count() for mask in one.sectors) == (
        counted.column("sectors").sum()
    )


def test_trace__blocks_have_lines_of_their_own_and_in_common() -> None:
    whole = launch("k06_vectorized", 1024)
    own, other = (set(trace(whole, np.array([b])).line.tolist()) for b in (0, 1))
    # Neighbours along x share the columns of B.
    assert own & other
    assert own - other


# Where lines come from


def test_block_axes__rows_of_a_go_with_x_and_columns_of_b_with_y() -> None:
    program = read_twin("k06_vectorized", "sm_86")
    axes = block_axes(program)
    loads = {int(axes[i]) for i, one in enumerate(program.instructions) if one.opcode == "LDG"}
    stores = {int(axes[i]) for i, one in enumerate(program.instructions) if one.opcode == "STG"}
    shared = {
        int(axes[i]) for i, one in enumerate(program.instructions) if one.opcode in ("LDS", "STS")
    }
    assert loads == {X, Y}
    assert stores == {X | Y}
    assert shared == {0}


def test_origin__blocks_of_a_wave_share_what_they_touch() -> None:
    whole = launch("k06_vectorized", 4096)
    axes = block_axes(whole.program)
    here = np.array([0, 84])
    found = origin(whole, axes, trace(whole, here), here, (0, 168), 6e6)
    # 168 blocks in columns of 32 rows of tiles; both blocks of an SM have a row and a column each.
    assert set(found.share[axes == X]) == {32 / (2 * 84)}
    assert set(found.share[axes == Y]) == {6 / (2 * 84)}
    assert not found.retained.any()


def test_origin__small_arrays_stay_in_l2() -> None:
    whole = launch("k06_vectorized", 512)
    here = np.array([0])
    found = origin(whole, block_axes(whole.program), trace(whole, here), here, (0, 16), 6e6)
    assert not found.share.any()
    assert (found.retained == 1).all()


def test_origin__l2_keeps_what_waves_share_as_far_as_it_fits() -> None:
    whole = launch("k06_vectorized", 4096)
    axes = block_axes(whole.program)
    here = np.array([168, 252])
    one = trace(whole, here)
    kept = [
        origin(whole, axes, one, here, (168, 336), size).retained[axes == X].max()
        for size in (6e6, 9e7, 1.5e8)
    ]
    assert kept[0] == 0
    assert 0 < kept[1] <= kept[2] == 1
