"""Compiled kernels of the user's own in the configuration: what is accepted, what is refused."""

import copy
import re
import shutil
from pathlib import Path

import pytest
import yaml

from pipeline.compiled import toolchain
from pipeline.config import artifact_plan, parameters
from pipeline.config.load import load
from pipeline.config.own_cuda import function_files, own_cuda, sources
from pipeline.config.own_cuda_entry import ARCHITECTURES, CudaArgumentEntry, CudaEntry
from pipeline.config.readme import readme
from pipeline.counting.own_cuda import CudaArgument, read_own
from pipeline.errors import ConfigError, MachineCodeError, ToolError
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import compiled

CHECKOUT = Path(__file__).resolve().parent.parent
LISTINGS = CHECKOUT / "tests/compiled/listings"
ARRAY = {"type": "float32", "shape": [8, 8]}
ENTRY = {
    "file": "mine.cu",
    "entry": "kernel",
    "grid": [4],
    "block": [32, 8],
    "arguments": {
        "x": ARRAY,
        "out": ARRAY | {"output": True},
        "n": {"type": "int32", "value": 8},
    },
    "specification": "mine.py:right",
}
PYTHON = "def right(x, scale=2):\n    return x\ndef of_y(y):\n    return y\ndef fill(a, b): ...\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.cu").write_text('#include "part.cuh"\n#include <mma.h>\n', encoding="utf-8")
    (tmp_path / "part.cuh").write_text('  #  include "mine.cu"\n', encoding="utf-8")
    (tmp_path / "mine.py").write_text(PYTHON, encoding="utf-8")
    (tmp_path / "mine.cubin").write_bytes(b"no machine code")
    (tmp_path / "cut.sass").write_text("nothing", encoding="utf-8")
    shutil.copy(LISTINGS / "transpose_sm_80.sass", tmp_path / "one.sass")
    shutil.copytree(CHECKOUT / "examples", tmp_path / "examples")
    return tmp_path


def config(folder, given):
    whole = yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8"))
    return load(whole | {"own_cuda": given}, checkout=folder)


def entry(**changes):
    return copy.deepcopy(ENTRY) | changes


def problems(folder, **changes):
    with pytest.raises(ConfigError) as caught:
        config(folder, {"mine": entry(**changes)})
    return [line.strip() for line in str(caught.value).splitlines()[1:-1]]


def test_entry__takes_all_architectures_of_a_source_and_fills_by_use(folder):
    chosen = config(folder, {"mine": entry()}).own_cuda
    assert chosen["mine"].architectures == ARCHITECTURES
    assert chosen["mine"].label == "mine"
    own = own_cuda("mine", chosen["mine"])
    assert own.arguments == (
        CudaArgument("x", "float32", (8, 8), "random"),
        CudaArgument("out", "float32", (8, 8), (0,), True),
        CudaArgument("n", "int32", (), (8,)),
    )


def test_entry__of_a_listing_takes_the_architecture_that_it_is_for(folder):
    chosen = config(folder, {"mine": entry(file="one.sass")}).own_cuda
    assert chosen["mine"].architectures == ("sm_80",)
    assert parameters.tool_versions(chosen["mine"]) == {}


def test_entry__of_a_cubin_takes_what_it_holds_without_any_tool(folder, monkeypatch):
    monkeypatch.setattr(toolchain, "find", lambda tool: None)
    cubin = str(CHECKOUT / "tests/compiled/binaries/scale_sm_90.cubin")
    (chosen,) = config(folder, {"mine": entry(file=cubin)}).own_cuda.values()
    assert chosen.architectures == ("sm_90",)
    assert parameters.tool_versions(chosen) == {"nvdisasm": ""}


def test_compiled__missing_tools_are_named_with_how_to_get_them(monkeypatch):
    monkeypatch.setattr(toolchain, "find", lambda tool: None)
    cubin = CHECKOUT / "tests/compiled/binaries/scale_sm_90.cubin"
    with pytest.raises(ToolError, match="nvdisasm is not installed; pip install 'paper-gpu"):
        compiled(cubin, "sm_90", "scale")
    with pytest.raises(ToolError, match="nvcc is not installed; pip install 'paper-gpu"):
        compiled(CHECKOUT / "examples/transpose.cu", "sm_90", "naive")


@pytest.mark.skipif(toolchain.find("nvdisasm") is None, reason="nvdisasm is not installed")
def test_compiled__kernel_of_a_cubin_is_found_by_its_name_in_the_source(tmp_path):
    cubin = CHECKOUT / "tests/compiled/binaries/scale_sm_90.cubin"
    assert compiled(cubin, "sm_90", "scale").kernel == "_Z5scalePffi"
    (tmp_path / "cut.cubin").write_bytes(cubin.read_bytes()[:3000])
    with pytest.raises(ToolError, match=r"cut\.cubin: nvdisasm"):
        compiled(tmp_path / "cut.cubin", "sm_90", "scale")


def test_entry__left_out_or_none_at_all(folder):
    assert config(folder, {"mine": False, "other": "false"}).own_cuda == {}
    assert config(folder, None).own_cuda == {}
    assert artifact_plan.cuda_files(config(folder, None)) == []


def test_entry__of_the_delivered_configuration_is_right_when_it_is_let_in(folder):
    text = (CHECKOUT / "config/config.yaml").read_text(encoding="utf-8")
    part = re.search(r"(?s)^own_cuda:\n(.*?)\n\n", text, re.MULTILINE)[1]
    given = yaml.safe_load("\n".join(line.replace("  # ", "  ", 1) for line in part.splitlines()))
    chosen = config(folder, given).own_cuda
    assert list(chosen) == ["cuda_transpose"]
    assert chosen["cuda_transpose"].grid == (32, 32)


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"file": "none.cu"}, "file", "there is no such file; give a path relative to"),
        ({"file": 300 * "a" + ".cu"}, "file", "there is no such file"),
        ({"file": "mine.cubin"}, "file", "holds no machine code that can be read.*-no-compress"),
        ({"file": "cut.sass"}, "file", "does not start with '# listing 1'"),
        ({"file": "one.sass", "architectures": ["sm_86"]}, r"architectures\[0\]",
         "given sm_86; one.sass has code for sm_80 only"),
        ({"architectures": ["sm_70"]}, r"architectures\[0\]", "must be one of 'sm_75', 'sm_80'"),
        ({"grid": [1, 65536]}, "grid", "65536 blocks along y; CUDA allows at most 65535"),
        ({"grid": []}, "grid", "must have one, two or three entries"),
        ({"block": [64, 32]}, "block", "2048 threads; a block has at most 1024"),
        ({"dynamic_shared": 10**6}, "dynamic_shared", "at most [0-9]+ bytes are allowed on any"),
        ({"specification": "mine.py"}, "specification", "must be file.py:function"),
        ({"specification": "mine.py:rigth"}, "specification", "did you mean 'right'"),
        ({"specification": "no.py:right"}, "specification", "cannot be read"),
        ({"specification": "mine.py:of_y"}, "specification",
         "takes y, which is no argument of the kernel; allowed: x, out, n"),
        ({"arguments": {"x": ARRAY}}, "arguments", "no argument is an output"),
        ({"hazards": "ignore"}, "hazards", "must be one of 'refuse' or 'report'"),
        ({"gird": [1]}, "gird", "unknown key; allowed: .*did you mean 'grid'"),
    ],
)  # fmt: skip
def test_entry__mistakes_name_key_and_what_is_allowed(folder, changes, path, message):
    (said,) = problems(folder, **changes)
    assert re.match(rf"own_cuda\.mine\.{path}: .*{message}", said), said


@pytest.mark.parametrize(
    ("one", "path", "message"),
    [
        ({"type": "float31", "shape": [1]}, r"x\.type", "must be one of 'float32'"),
        ({"type": "int8"}, "x", "must have a shape .an array. or a value, not both"),
        ({"type": "int8", "value": 1, "shape": [1]}, "x", "not both"),
        ({"type": "int8", "value": 200}, "x", "200 is no int8: whole numbers from -128 to 127"),
        ({"type": "uint8", "shape": [2], "fill": [-1, 3]}, "x", "-1 is no uint8"),
        ({"type": "int32", "value": 0.5}, "x", "0.5 is no int32"),
        ({"type": "int8", "value": 1, "output": True}, "x", "fill and output are for arrays"),
        ({"type": "int8", "shape": [2**32]}, "x", "an array of 4294967296 bytes; at most"),
        ({"type": "int8", "shape": []}, r"x\.shape", "must hold at least 1 entry"),
        ({"type": "int8", "shape": [1], "fill": "noise"}, r"x\.fill", "random, range"),
        ({"type": "int8", "shape": [1], "fill": [3, 1]}, r"x\.fill", "lowest, highest"),
        ({"type": "int8", "shape": [1], "fill": "mine.py:fil"}, r"x\.fill", "did you mean 'fill'"),
    ],
)
def test_argument__mistakes_name_key_and_what_is_allowed(folder, one, path, message):
    arguments = ENTRY["arguments"] | {"x": one}
    (said,) = problems(folder, arguments=arguments, specification="")
    assert re.match(rf"own_cuda\.mine\.arguments\.{path}: .*{message}", said), said


def test_entry__all_mistakes_are_told_together(folder):
    with pytest.raises(ConfigError) as caught:
        config(
            folder,
            {
                "one": entry(file="none.cu", specification="mine.py:none"),
                "k01_naive": entry(),
                "two": entry(grid=[0], block=[2048]),
                "three": 7,
            },
        )
    told = str(caught.value)
    for path in ("one.file", "one.specification", "k01_naive", "two.grid[0]", "two.block", "three"):
        assert f"own_cuda.{path}: " in told


def test_values__are_plain_and_read_back(folder):
    fills = {"x": ARRAY | {"fill": "mine.py:fill"}, "y": ARRAY | {"fill": [0, 0.5]}}
    given = entry(arguments=ENTRY["arguments"] | fills)
    chosen = config(folder, {"mine": given}).own_cuda
    values = parameters.own_cuda_values(chosen)["mine"]
    assert read_own(values) == own_cuda("mine", chosen["mine"])
    assert function_files(chosen["mine"]) == ["mine.py"]
    assert parameters.own_cuda_labels(chosen) == {"mine": "mine"}


def test_sources__are_the_file_and_what_it_includes_from_beside_it(folder):
    assert sources("mine.cu", folder) == ["mine.cu", "part.cuh"]
    assert sources("one.sass", folder) == ["one.sass"]


def test_sources__that_include_each_other_from_other_folders_stand_once(tmp_path):
    for name, included in (("a/x.cuh", "../b/y.cuh"), ("b/y.cuh", "../a/x.cuh")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f'#include "{included}"\n', encoding="utf-8")
    assert sources("a/x.cuh", tmp_path) == ["a/../b/y.cuh", "a/x.cuh"]


def test_sources__include_whose_name_no_file_can_have_is_not_there(tmp_path):
    (tmp_path / "mine.cu").write_text(f'#include "{"x" * 5000}"\n', encoding="utf-8")
    assert sources("mine.cu", tmp_path) == ["mine.cu"]


def test_files__are_pages_checks_stores_and_artifacts(folder):
    files = artifact_plan.cuda_files(config(folder, {"mine": entry()}))
    assert {
        "results/own/pages/mine.html",
        "results/own/pages/mine.zh.html",
        "results/own/checks/mine.txt",
        "results/own/cuda/mine_sm_86.zarr",
        "results/own/tables/own_cuda_lines.tex",
        "results/own/figures/own_cuda.svg",
    } <= set(files)
    assert not [one for one in files if "own_kernels" in one]


def test_readme__explains_every_key():
    page = readme(KERNELS)
    for name in CudaEntry.model_fields:
        assert f"`own_cuda.<id>.{name}`" in page
    for name in CudaArgumentEntry.model_fields:
        assert f"`own_cuda.<id>.arguments.<name>.{name}`" in page


def test_compiled__name_of_the_source_is_enough_if_one_kernel_has_it(tmp_path):
    text = (LISTINGS / "transpose_sm_80.sass").read_text(encoding="utf-8")
    mangled = "_Z9transposeILi3EEvPKfPfii"
    path = tmp_path / "one.sass"
    path.write_text(text.replace("kernel transpose\n", f"kernel {mangled}\n"), encoding="utf-8")
    assert compiled(path, "sm_80", "transpose").kernel == mangled
    assert compiled(path, "sm_80", mangled).kernel == mangled


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z5scalePffi", "scale"),
        ("_Z15scale_by_factorPf", "scale_by_factor"),
        ("_ZL5scalePf", "scale"),
        ("_ZN2k15scaleILi3EEEvPf", "scale"),
        ("_ZN12_GLOBAL__N_15scaleEPf", "scale"),
        ("_Z5other5scale", "other"),
    ],
)
def test_compiled__name_of_the_source_is_the_whole_name_of_the_function(tmp_path, mangled, name):
    text = (LISTINGS / "transpose_sm_80.sass").read_text(encoding="utf-8")
    path = tmp_path / "one.sass"
    path.write_text(text.replace("kernel transpose\n", f"kernel {mangled}\n"), encoding="utf-8")
    assert compiled(path, "sm_80", name).kernel == mangled
    for other in {"scale", "other", "factor"} - {name}:
        with pytest.raises(MachineCodeError, match=f"there is no kernel {other}; there are _Z"):
            compiled(path, "sm_80", other)
