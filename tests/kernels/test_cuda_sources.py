"""The CUDA source beside each kernel: same numbers as its Python twin, compiles, computes A * B.

Without a GPU the sources still run: ``host/cuda_host.hpp`` lets a C++ compiler build them for the
processor, with the threads of a block as fibers that change places at barriers.
"""

import ctypes
import importlib
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "pipeline" / "kernels"
HOST = Path(__file__).parent / "host"
SOURCES = sorted(path.stem for path in FOLDER.glob("k[0-9][0-9]_*.cu"))
TWINS = sorted(path.stem for path in FOLDER.glob("k[0-9][0-9]_*.py"))
LADDER = [
    "k01_naive",
    "k02_coalesced",
    "k03_smem",
    "k04_blocktile_1d",
    "k05_blocktile_2d",
    "k06_vectorized",
    "k07_banks_linearized",
    "k08_banks_padded",
    "k09_autotuned",
    "k10_warptiled",
    "k11_double_buffered",
    "k12_double_buffered_async",
    "k13_tensor_core",
]
ARCHITECTURES = ("80", "86", "90")

# What a switch of a kernel means in its Python options.
SWITCH_VALUES = {
    "none": 0, "first": 1, "second": 2,
    "plain": 0, "padded": 1, "xor_swizzle": 2,
}  # fmt: skip

CUDA_TYPES = {"float32": "float", "float16": "half"}

# Options that say what a compiler makes of the source: CUDA has no switch for them.
COMPILED = {"WIDE_LOADS"}

needs_nvcc = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="nvcc is not installed: the CUDA sources go uncompiled"
)
needs_cxx = pytest.mark.skipif(
    shutil.which("g++") is None, reason="g++ is not installed: the CUDA sources go unexecuted"
)


def text(kernel: str) -> str:
    return (FOLDER / f"{kernel}.cu").read_text()


def macros(kernel: str) -> dict[str, int]:
    """Names and default values of what ``-D`` can change."""
    found = re.findall(r"^#ifndef (\w+)\n#define \1 (\d+)\n#endif$", text(kernel), re.MULTILINE)
    return {name: int(value) for name, value in found}


def option_defaults(kernel: str) -> dict[str, int]:
    """Defaults of the Python options, under the names and values they have in CUDA."""
    options = importlib.import_module(f"pipeline.kernels.{kernel}").KERNEL.options()
    values = {field.name.upper(): getattr(options, field.name) for field in fields(options)}
    return {
        name: int(SWITCH_VALUES.get(value, value))
        for name, value in values.items()
        if name not in COMPILED
    }


def element(kernel: str) -> str:
    """Type of the elements of A and B in CUDA."""
    return CUDA_TYPES[importlib.import_module(f"pipeline.kernels.{kernel}").KERNEL.element]


def test_ladder__has_a_cuda_source_for_every_step():
    assert SOURCES == LADDER


def test_twins__python_kernels_have_a_cuda_source_beside_them():
    assert set(TWINS) <= set(SOURCES)


@pytest.mark.parametrize("kernel", TWINS)
def test_defaults__equal_the_options_of_the_python_twin(kernel):
    assert macros(kernel) == option_defaults(kernel)


def test_compiled_options__are_off_unless_asked_for():
    for kernel in TWINS:
        options = importlib.import_module(f"pipeline.kernels.{kernel}").KERNEL.options()
        assert {getattr(options, name.lower(), False) for name in COMPILED} <= {False, "none"}


@pytest.mark.parametrize("kernel", SOURCES)
def test_source__defines_every_number_so_that_it_can_be_changed(kernel):
    assert len(re.findall(r"^#define", text(kernel), re.MULTILINE)) == len(macros(kernel))


@pytest.mark.parametrize("kernel", SOURCES)
def test_source__has_the_signature_of_the_ladder(kernel):
    flat = re.sub(r"\s+", " ", text(kernel))
    kind = element(kernel)
    pattern = (
        r'extern "C" __global__ void (__launch_bounds__\(THREADS\) )?'
        + kernel
        + rf"\(const {kind}\* A, const {kind}\* B, float\* C, int M, int N, int K\) \{{"
    )
    assert re.search(pattern, flat)


@pytest.mark.parametrize("kernel", SOURCES)
def test_source__starts_with_what_it_changes_and_how_it_is_launched(kernel):
    lines = text(kernel).splitlines()
    assert lines[0].startswith(f"// {kernel}: ")
    assert any(line.startswith("// Launch: grid (") for line in lines)
    assert max(len(line) for line in lines) <= 100


def nvcc(kernel: str, target: Path, *flags: str) -> str:
    """Compile with every warning an error, spills and local arrays included; give the log."""
    strict = ["--Werror", "all-warnings", "-Xptxas", "-v,-warn-spills,-warn-lmem-usage"]
    command = ["nvcc", *strict, *flags, "-o", str(target), str(FOLDER / f"{kernel}.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs_nvcc
@pytest.mark.parametrize("kernel", SOURCES)
def test_source__compiles_without_warnings_or_spills(kernel, tmp_path):
    targets = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in ARCHITECTURES]
    log = nvcc(kernel, tmp_path / "all.fatbin", "-fatbin", *targets)
    assert log.count("0 bytes spill stores") == len(ARCHITECTURES)


@needs_nvcc
@pytest.mark.parametrize("kernel", TWINS)
def test_source__takes_the_shared_memory_that_its_twin_declares(kernel, tmp_path):
    log = nvcc(kernel, tmp_path / "one.cubin", "-cubin", "-arch=sm_86")
    used = re.search(r"(\d+) bytes smem", log)
    twin = importlib.import_module(f"pipeline.kernels.{kernel}").KERNEL
    assert (int(used[1]) if used else 0) == twin.launch(twin.options()).smem_bytes


def on_processor(kernel, folder, block, tile, shape, defines=()):
    """Largest error of C, run on the processor; NaN where an element was never written."""
    library = folder / f"{kernel}.so"
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-x", "c++", f"-DKERNEL={kernel}"]
    command += [f"-DELEMENT={element(kernel)}"]
    command += [f"-D{name}={value}" for name, value in dict(defines).items()]
    command += ["-I", str(HOST), "-include", str(HOST / "cuda_host.hpp"), "-o", str(library)]
    subprocess.run([*command, str(FOLDER / f"{kernel}.cu")], check=True)
    m, n, k = shape
    random = np.random.default_rng(7)
    kind = importlib.import_module(f"pipeline.kernels.{kernel}").KERNEL.element
    a = random.standard_normal((m, k), dtype=np.float32).astype(kind)
    b = random.standard_normal((k, n), dtype=np.float32).astype(kind)
    c = np.full((m, n), np.nan, dtype=np.float32)
    grid = (ctypes.c_uint * 2)(-(-m // tile[0]), -(-n // tile[1]))
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c)]
    launched = ctypes.CDLL(str(library)).launch(
        *pointers, m, n, k, grid, (ctypes.c_uint * 3)(*block)
    )
    assert launched == 0, "some threads of a block ended while others stood at a barrier"
    return np.abs(c - a.astype(np.float64) @ b).max()


# Rectangular shapes, each of M, N, K another number of tiles.
RUNS = {
    "k01": ("k01_naive", (32, 32, 1), (32, 32), (70, 45, 33), {}),
    "k02": ("k02_coalesced", (1024, 1, 1), (32, 32), (70, 45, 33), {}),
    "k03": ("k03_smem", (1024, 1, 1), (32, 32), (64, 96, 128), {}),
    "k03 of 16": ("k03_smem", (256, 1, 1), (16, 16), (32, 48, 64), {"BS": 16}),
    "k04": ("k04_blocktile_1d", (512, 1, 1), (64, 64), (128, 192, 40), {}),
    "k05": ("k05_blocktile_2d", (256, 1, 1), (128, 128), (256, 384, 40), {}),
    "k05 vec_b": ("k05_blocktile_2d", (256, 1, 1), (128, 128), (256, 384, 40), {"VEC_B": 1}),
    "k06": ("k06_vectorized", (256, 1, 1), (128, 128), (256, 384, 40), {}),
    "k07": ("k07_banks_linearized", (256, 1, 1), (128, 128), (256, 384, 40), {}),
    "k07 of 4": (
        "k07_banks_linearized",
        (256, 1, 1),
        (64, 64),
        (128, 192, 48),
        {"BM": 64, "BN": 64, "BK": 16, "TM": 4, "TN": 4},
    ),
    "k08": ("k08_banks_padded", (256, 1, 1), (128, 128), (256, 384, 40), {}),
    "k09": ("k09_autotuned", (256, 1, 1), (128, 128), (256, 384, 48), {}),
    "k09 in four steps": (
        "k09_autotuned",
        (256, 1, 1),
        (128, 128),
        (256, 384, 48),
        {"TM": 4, "TN": 4},
    ),
    "k10": ("k10_warptiled", (128, 1, 1), (128, 128), (256, 384, 48), {}),
    "k10 in two rows": (
        "k10_warptiled",
        (128, 1, 1),
        (128, 128),
        (256, 384, 48),
        {"WNITER": 2, "TM": 4, "TN": 8},
    ),
    "k11, odd number of tiles": (
        "k11_double_buffered",
        (256, 1, 1),
        (128, 256),
        (256, 768, 48),
        {},
    ),
    "k11, even": ("k11_double_buffered", (256, 1, 1), (128, 256), (128, 512, 64), {}),
    "k11, one": ("k11_double_buffered", (256, 1, 1), (128, 256), (128, 256, 16), {}),
    "k12": ("k12_double_buffered_async", (128, 1, 1), (128, 128), (256, 384, 48), {}),
    "k13": ("k13_tensor_core", (128, 1, 1), (128, 128), (256, 384, 192), {}),
    "k13 plain": ("k13_tensor_core", (128, 1, 1), (128, 128), (128, 256, 64), {"LAYOUT": 0}),
    "k13 padded": ("k13_tensor_core", (128, 1, 1), (128, 128), (128, 256, 64), {"LAYOUT": 1}),
    "k13 of 32": (
        "k13_tensor_core",
        (64, 1, 1),
        (64, 32),
        (128, 96, 96),
        {"BM": 64, "BN": 32, "BK": 32, "WM": 32, "WN": 32},
    ),
}


@needs_cxx
@pytest.mark.parametrize("run", RUNS)
def test_kernel__multiplies_on_the_processor(run, tmp_path):
    kernel, block, tile, shape, defines = RUNS[run]
    assert on_processor(kernel, tmp_path, block, tile, shape, defines) < 1e-4


def test_runs__cover_the_ladder():
    assert {kernel for kernel, *_ in RUNS.values()} == set(LADDER)


@needs_cxx
@pytest.mark.parametrize(
    ("run", "defines"),
    [
        ("k03", {"DROP_SYNC": 1}),
        ("k03", {"DROP_SYNC": 2}),
        ("k12", {"DROP_WAIT": 1}),
        ("k13", {"DROP_SYNC": 1}),
        ("k13", {"DROP_SYNC": 2}),
    ],
)
def test_kernel__is_wrong_without_its_barrier_or_wait(run, defines, tmp_path):
    kernel, block, tile, shape, _ = RUNS[run]
    assert on_processor(kernel, tmp_path, block, tile, shape, defines) > 1.0
