"""The guide to compiled kernels says what its code prints."""

import contextlib
import io
import re
from functools import partial
from pathlib import Path

import pytest
import yaml

from pipeline.artifacts.cuda_findings import findings
from pipeline.compiled import toolchain
from pipeline.config.own_cuda import choose_cuda, own_cuda
from pipeline.counting.own_cuda_run import MOST_BYTES, MOST_ON_DATA, MOST_RUN, run_own_cuda
from pipeline.listing_files import compiled
from pipeline.user_file import load_function

ROOT = Path(__file__).parents[2]
MISSING = [tool for tool in ("nvcc", "nvdisasm") if toolchain.find(tool) is None]


@pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} not installed: guide goes unrun"
)
def test_guide__its_code_prints_what_it_says(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/COMPILED.md").read_text(encoding="utf-8")
    by_hand = text.partition("## Run it from Python")[2]
    blocks = re.findall(r"```(python|)\n(.*?)```", by_hand, re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(block, names)
            printed = output.getvalue()
        else:
            assert printed == block


@pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} not installed: guide goes unrun"
)
def test_guide__pages_say_what_it_quotes(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/COMPILED.md").read_text(encoding="utf-8")
    given = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])["own_cuda"]
    chosen, problems = choose_cuda(given, ())
    assert problems == []
    own = own_cuda("cuda_transpose", chosen["cuda_transpose"])
    quoted = re.findall(r"```text\n *(.*?)\n *```", text)
    quoted.append("No access takes more sectors or wavefronts than its bytes need")
    for entry, sentence in zip(("naive", "tiled", "padded"), quoted, strict=True):
        program = partial(compiled, own.file, "sm_86", entry)
        counts, rows = run_own_cuda(own, program, load_function, "sm_86", 0)
        assert counts["failure"].item() == ""
        said = " ".join(findings(counts.isel(kernel=0, arch=0), rows, {}))
        assert sentence in said


def test_guide__states_the_limits():
    text = (ROOT / "docs/COMPILED.md").read_text(encoding="utf-8")
    assert "20 million warp instructions and 1 GiB" in text
    assert (MOST_RUN, MOST_BYTES, MOST_ON_DATA) == (20 * 10**6, 2**30, 5 * 10**8)


def test_example__lines_are_those_of_the_guide():
    lines = (ROOT / "examples/transpose.cu").read_text(encoding="utf-8").splitlines()
    assert lines[6].strip().startswith("out[x * n")
    assert lines[17].strip().startswith("out[(col")
