"""Compiler and disassembler: found or asked for, and listings that are those of the sources."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from pipeline.compiled import elf, listing, toolchain
from pipeline.compiled.decode import decode
from pipeline.compiled.launch import execute, prepare
from pipeline.errors import MachineCodeError, ToolError
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import (
    TWINS,
    Tiling,
    compiled,
    listings_of,
    outdated,
    program_finder,
    read_listing,
    read_tilings,
    tiled_listing,
    tilings,
    tilings_of,
    twin_listing,
    twin_source,
)
from pipeline.renew_listings import GEMV, GEMV_ARCHITECTURES, architectures_of

HERE = Path(__file__).parent
MISSING = [tool for tool in ("nvcc", "nvdisasm") if toolchain.find(tool) is None]
needs_tools = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} not installed: listings go unchecked"
)


@pytest.mark.parametrize(
    ("kernel", "architecture"),
    [(kernel, architecture) for kernel in KERNELS for architecture in architectures_of(kernel)],
)
def test_listings__are_those_of_the_present_sources(kernel, architecture):
    assert outdated(twin_listing(kernel, architecture), kernel) == ""


@pytest.mark.parametrize("one", tilings(), ids=str)
def test_listings__with_other_tiles_are_those_of_the_present_sources(one: Tiling) -> None:
    path = tiled_listing(one.kernel, one.architecture, one.tiles)
    assert outdated(path, one.kernel) == ""
    defined = " ".join(f"{name}={size}" for name, size in one.defines.items())
    assert read_listing(path).made_by["defines"] == defined


def test_listings__no_other_tiles_are_kept() -> None:
    kept = {tiled_listing(one.kernel, one.architecture, one.tiles) for one in tilings()}
    assert set((TWINS / "tiles").iterdir()) == kept


def test_program_finder__finds_by_options(tmp_path):
    find = program_finder(listings_of(["sm_80"]))
    own = find("k09_autotuned", "sm_80", {})
    tiles = {"bm": 64, "bn": 64, "bk": 16, "tm": 4, "tn": 4}
    other = find("k09_autotuned", "sm_80", tiles | {"threads": 256})
    assert other.facts.registers < own.facts.registers
    assert find("k09_autotuned", "sm_80", tiles | {"tm": 8}) is None
    assert find("k09_autotuned", "sm_90", {}) is None


def test_read_tilings__gives_the_options_of_each():
    found = read_tilings(tilings_of("k10_warptiled", "sm_86"))
    assert found[0][0] == {}
    assert len(found) == len({str(options) for options, _ in found}) >= 40
    assert all({"bm", "bn", "bk", "wm", "wn", "threads"} <= set(one) for one, _ in found[1:])


@pytest.mark.parametrize("arch", GEMV_ARCHITECTURES)
def test_gemv__listing_is_of_the_present_source(arch):
    named = read_listing(twin_listing(GEMV, arch)).made_by["source"]
    source = twin_source(GEMV)
    assert named == f"{source.name} {toolchain.source_digest(source)}"


def test_outdated__says_what_is_wrong(tmp_path):
    assert "is missing" in outdated(twin_listing("k01_naive", "sm_80", tmp_path), "k01_naive")
    text = twin_listing("k01_naive", "sm_80").read_text()
    twin_listing("k01_naive", "sm_80", tmp_path).write_text(text.replace("ive.cu ", "ive.cu 0"))
    assert "made from another k01_naive.cu" in outdated(
        twin_listing("k01_naive", "sm_80", tmp_path), "k01_naive"
    )


@needs_tools
@pytest.mark.parametrize("kernel", ["k01_naive", "k12_double_buffered_async"])
def test_listings__are_what_the_compiler_makes(kernel):
    kept = read_listing(twin_listing(kernel, "sm_86"))
    made = toolchain.from_source(twin_source(kernel), "sm_86")[kernel]
    if made.made_by["compiler"] != kept.made_by["compiler"]:
        pytest.skip(f"another compiler is installed: {made.made_by['compiler']}")
    assert made.lines == kept.lines
    assert made.facts == kept.facts


@needs_tools
@pytest.mark.parametrize("name", ["softmax", "dynamic"])
def test_listings__of_test_kernels_are_fresh(name):
    kept = read_listing(HERE / "listings" / f"{name}_sm_80.sass")
    made = toolchain.from_source(HERE / "kernels" / f"{name}.cu", "sm_80")[name]
    if made.made_by["compiler"] == kept.made_by["compiler"]:
        assert listing.write(made) == listing.write(kept)


@needs_tools
def test_facts__agree_with_the_compilers_report(tmp_path):
    for kernel, arch in (("k04_blocktile_1d", "sm_80"), ("k10_warptiled", "sm_90")):
        command = [str(toolchain.require("nvcc")), "-cubin", f"-arch={arch}", "--resource-usage"]
        done = subprocess.run(
            [*command, "-o", str(tmp_path / "out.cubin"), str(twin_source(kernel))],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        facts = read_listing(twin_listing(kernel, arch)).facts
        report = done.stdout + done.stderr
        assert f"Used {facts.registers} registers" in report
        assert f"{facts.shared_bytes} bytes smem" in report


@needs_tools
def test_compiled__source_cubin_and_executable_give_the_same(tmp_path):
    source = HERE / "kernels" / "transpose.cu"
    cubin = tmp_path / "transpose.cubin"
    cubin.write_bytes(toolchain.compile_source(source, "sm_80"))
    # What an executable is to the reader: a file with cubins somewhere inside.
    library = tmp_path / "library.so"
    library.write_bytes(b"\x7fELF-not-a-cubin" * 9 + cubin.read_bytes() + b"tail")
    programs = [compiled(path, "sm_80", "transpose") for path in (source, cubin, library)]
    assert programs[0].instructions == programs[1].instructions == programs[2].instructions
    with pytest.raises(ToolError, match="no machine code for sm_90"):
        compiled(library, "sm_90", "transpose")


@needs_tools
def test_compile__shows_what_the_compiler_says(tmp_path):
    broken = tmp_path / "broken.cu"
    broken.write_text("__global__ void k() { undeclared(); }\n")
    with pytest.raises(ToolError, match=r"broken.cu: nvcc for sm_80:[\s\S]*undeclared"):
        toolchain.compile_source(broken, "sm_80")


def test_require__says_how_to_get_a_tool():
    with pytest.raises(ToolError, match=r"nvnothing is not installed; pip install .*cuda"):
        toolchain.require("nvnothing")


def test_elf__refuses_what_is_no_cubin():
    with pytest.raises(MachineCodeError, match="is no cubin"):
        elf.read(b"MZ" + bytes(100))
    assert elf.embedded(b"nothing here") == []


def test_disassembled__refuses_lines_that_it_cannot_read():
    text = "//---- .text.k ----\n        /*0000*/    what is this\n"
    with pytest.raises(MachineCodeError, match="cannot read the disassembler's line"):
        listing.disassembled(text)


def test_registers__of_the_ladder_fit_the_architecture():
    for kernel in KERNELS:
        assert 16 <= decode(read_listing(twin_listing(kernel, "sm_80"))).facts.registers <= 255


@needs_tools
def test_listings__kernel_beside_one_that_prints_can_be_run(tmp_path):
    source = tmp_path / "both.cu"
    source.write_text(
        "#include <cstdio>\n"
        'extern "C" __global__ void prints(int *x) { printf("%d", x[0]); }\n'
        'extern "C" __global__ void adds(int *x) { x[threadIdx.x] += 1; }\n'
    )
    found = toolchain.from_source(source, "sm_80")
    x = np.zeros(32, np.int32)
    execute(prepare(decode(found["adds"]), 1, 32, (x,)))
    assert (x == 1).all()
    with pytest.raises(MachineCodeError, match=r"both.cu:2.*such as printf"):
        decode(found["prints"])
