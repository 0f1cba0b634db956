"""The guide to compiled kernels says what its code prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from pipeline.compiled import toolchain

ROOT = Path(__file__).parents[2]
MISSING = [tool for tool in ("nvcc", "nvdisasm") if toolchain.find(tool) is None]


@pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} not installed: guide goes unrun"
)
def test_guide__its_code_prints_what_it_says(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/COMPILED.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|)\n(.*?)```", text, re.DOTALL)
    names: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(block, names)
            printed = output.getvalue()
        else:
            assert printed == block


def test_example__lines_are_those_of_the_guide():
    lines = (ROOT / "examples/transpose.cu").read_text(encoding="utf-8").splitlines()
    assert lines[6].strip().startswith("out[x * n")
    assert lines[17].strip().startswith("out[(col")
