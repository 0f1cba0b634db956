"""The matrix-vector product of a decode step, run from its machine code."""

import numpy as np
import pytest

from pipeline.compiled.launch import execute
from pipeline.listing_files import TWINS, read_programs
from pipeline.renew_listings import GEMV, GEMV_ARCHITECTURES
from pipeline.timing.replay_gemv import COLUMNS_STEP, WARPS, gemv


def halves(rng, *shape):
    """Random bfloat16, as their bits, and the numbers that these stand for."""
    bits = (rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("arch", GEMV_ARCHITECTURES)
@pytest.mark.parametrize(("rows", "columns"), [(16, 1024), (13, 1280), (8, COLUMNS_STEP)])
def test_gemv__multiplies(arch, rows, columns):
    (program,) = read_programs([str(TWINS / f"{GEMV}_{arch}.sass")])
    rng = np.random.default_rng(rows)
    (weights, w), (inputs, x) = halves(rng, rows, columns), halves(rng, columns)
    result = np.zeros(rows, np.float32)
    launch = gemv(program, rows, columns)
    arguments = (weights, inputs, result, rows, columns)
    assert launch.blocks == -(-rows // WARPS)
    execute(type(launch)(program, launch.grid, launch.block, arguments))
    np.testing.assert_allclose(result, w @ x, rtol=1e-4, atol=1e-4)
