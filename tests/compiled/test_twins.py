"""The CUDA twins of the ladder on the executor: right results, and the counters of a profiler."""

import csv
from pathlib import Path

import numpy as np
import pytest

from pipeline.compiled.count import count
from pipeline.compiled.decode import decode
from pipeline.compiled.launch import Space, execute, prepare
from pipeline.kernels.matmul import counts
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_listing, read_twin

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
GOLDEN = HERE / "golden_opcodes.csv"
RAGGED = {"k01_naive": (70, 45, 33), "k02_coalesced": (70, 45, 33)}


def launch(kernel, architecture, m, n, k, arrays):
    tile = KERNELS[kernel].launch(KERNELS[kernel].options())
    grid = (-(-m // tile.tile[0]), -(-n // tile.tile[1]))
    return prepare(read_twin(kernel, architecture), grid, tile.block, (*arrays, m, n, k))


def sizes(kernel, m, n, k):
    each = np.dtype(KERNELS[kernel].element).itemsize
    return Space(each * m * k), Space(each * k * n), Space(4 * m * n)


def multiplied(kernel, architecture, m, n, k):
    random = np.random.default_rng(7)
    a, b = (
        random.standard_normal(shape, dtype=np.float32).astype(KERNELS[kernel].element)
        for shape in ((m, k), (k, n))
    )
    c = np.full((m, n), np.nan, np.float32)
    totals = execute(launch(kernel, architecture, m, n, k, (a, b, c)))
    return totals, np.abs(c - a.astype(float) @ b.astype(float)).max()


def shapes(kernel):
    square = 256 if kernel == "k11_double_buffered" else 128
    multiple = KERNELS[kernel].launch(KERNELS[kernel].options()).multiple
    oblong = tuple(times * one for times, one in zip((2, 1, 3), multiple, strict=True))
    return [(square,) * 3, RAGGED.get(kernel, oblong)]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_86", "sm_89"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_twin__multiplies_square_and_other_shapes(kernel, architecture):
    for shape in shapes(kernel):
        totals, error = multiplied(kernel, architecture, *shape)
        assert error < 1e-4
        assert totals.counters()["fma"] == np.prod(shape)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("kernel", ["k01_naive", "k06_vectorized", "k12_double_buffered_async"])
def test_twin__multiplies_on_other_architectures(kernel, architecture):
    _, error = multiplied(kernel, architecture, 128, 128, 128)
    assert error < 1e-4


@pytest.mark.parametrize("architecture", ["sm_80", "sm_86", "sm_89"])
def test_tensor_cores__memory_and_products_are_those_of_the_simulator(architecture):
    kernel, shape = "k13_tensor_core", (256, 128, 192)
    made = count(launch(kernel, architecture, *shape, sizes(kernel, *shape))).counters()
    simulated = dict(counts(KERNELS[kernel], *shape).counters)
    # Compiled code also computes addresses and loops.
    for name in ("warp_instr", "thread_instr"):
        assert made.pop(name) > simulated.pop(name)
    assert made == {name: simulated[name] for name in made}


@pytest.mark.parametrize("kernel", KERNELS)
def test_count__equals_what_execution_counts(kernel):
    for shape in shapes(kernel):
        ran, _ = multiplied(kernel, "sm_80", *shape)
        counted = count(launch(kernel, "sm_80", *shape, sizes(kernel, *shape)))
        np.testing.assert_array_equal(counted.executed, ran.executed)
        np.testing.assert_array_equal(counted.accesses, ran.accesses)
        assert counted.counters() == ran.counters()


def test_count__equals_execution_where_turns_and_blocks_are_left_out():
    for kernel, shape in (("k01_naive", (200, 100, 301)), ("k04_blocktile_1d", (192, 128, 256))):
        ran, _ = multiplied(kernel, "sm_80", *shape)
        counted = count(launch(kernel, "sm_80", *shape, sizes(kernel, *shape)))
        np.testing.assert_array_equal(counted.accesses, ran.accesses)
        assert counted.counters() == ran.counters()


def measured():
    path = ROOT / "data/measured/nsight_counters_a100.csv"
    rows = csv.DictReader(line for line in path.read_text().splitlines() if line[0] != "#")
    return {(row["kernel"], row["metric"]): float(row["value"]) for row in rows}


def like_measured(kernel, n):
    """A launch tiled as the measured one. The compiler makes of the last what its source says, so
    it is a kernel that updates C, as the measured one does."""
    if kernel != "k05_blocktile_2d":
        return launch(kernel, "sm_80", n, n, n, sizes(kernel, n, n, n))
    program = decode(read_listing(HERE / "listings" / "gemm_update_sm_80.sass"))
    a, b, c = sizes(kernel, n, n, n)
    return prepare(program, (n // 128, n // 128), 256, (n, n, n, 1.0, a, b, 0.5, c))


@pytest.mark.parametrize("kernel", ["k03_smem", "k04_blocktile_1d", "k05_blocktile_2d"])
def test_count__agrees_with_the_counters_of_an_a100(kernel):
    """All measured kernels read every element of C that they store."""
    n = 4096
    counted = count(like_measured(kernel, n)).counters()
    profiled = {metric: value for (name, metric), value in measured().items() if name == kernel}
    waves = profiled["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
    assert counted["lds_wavefronts"] == pytest.approx(waves, rel=1e-3)
    reads_c = 0 if kernel == "k05_blocktile_2d" else counted["gst_instr"]
    loads = profiled["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]
    assert counted["gld_instr"] + reads_c == loads
    stores = profiled["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
    assert counted["gst_instr"] == stores
    sectors = profiled["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]
    assert counted["gst_sectors"] == sectors


def test_instructions__per_opcode_are_those_of_the_golden_file(request):
    lines = ["kernel,architecture,opcode,executed"]
    for kernel in KERNELS:
        for architecture in ("sm_80", "sm_86", "sm_89"):
            shape = shapes(kernel)[0]
            totals = count(launch(kernel, architecture, *shape, sizes(kernel, *shape)))
            lines += [
                f"{kernel},{architecture},{opcode},{executed}"
                for opcode, executed in totals.by_opcode().items()
            ]
    text = "\n".join(lines) + "\n"
    if request.config.getoption("--regen", default=False):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
