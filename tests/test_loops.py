"""What was compiled is used as long as the code behind it is the same, and no longer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import loops

CHECKOUT = Path(loops.__file__).resolve().parent.parent

LOOP = """
from pipeline import constants
from pipeline.loops import compiled
from pipeline.steps import step

@compiled
def last(x):
    for _ in range(3):
        x = step(x) * constants.FACTOR
    return x
"""
STEP = """
from pipeline.loops import compiled

@compiled
def step(x):
    return x + 1
"""
SAID = "from pipeline.loop import last; print(last(1), sum(last.stats.cache_hits.values()))"


@pytest.fixture
def said(tmp_path):
    """Write a small package, run its loop in an interpreter, and give result and times found."""
    for name in ("__init__", "loops", "provenance", "source_files"):
        target = tmp_path / "pipeline" / f"{name}.py"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / "pipeline" / target.name, target)

    def run(**sources):
        for name, text in sources.items():
            (tmp_path / "pipeline" / f"{name}.py").write_text(text, encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", SAID],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    return run


def test_compiled__is_found_until_code_behind_it_changes(said):
    assert said(loop=LOOP, steps=STEP, constants="FACTOR = 1\n") == ["4", "0"]
    assert said() == ["4", "1"]
    # A comment is no change.
    assert said(steps=f"# one more\n{STEP}") == ["4", "1"]
    assert said(steps=STEP.replace("+ 1", "+ 2")) == ["7", "0"]
    assert said(constants="FACTOR = 2\n") == ["36", "0"]
    assert said() == ["36", "1"]
