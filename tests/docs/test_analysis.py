"""The page and the notebook on analysing sweeps run as they stand."""

import os
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbclient
import nbformat
import pytest

from pipeline import store
from tests.artifacts import fixtures_sweeps

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs/analysis.md").read_text(encoding="utf-8")
NOTEBOOK = nbformat.read(CHECKOUT / "docs/analysis.ipynb", as_version=4)


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder like the project's, with small stores of the same shape."""
    place = tmp_path_factory.mktemp("analysis")
    for name in ("sweeps/tiles", "sweeps/timeline"):
        store.write(fixtures_sweeps.STORES[name](), place / f"results/{name}.zarr")
    (place / "data").symlink_to(CHECKOUT / "data")
    return place


def environment():
    return os.environ | {"PYTHONPATH": str(CHECKOUT), "MPLBACKEND": "agg"}


def test_page__runs(folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks(PAGE))],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^launch +0\.\d\d$", done.stdout, re.M)
    assert re.search(r"^launch +first order +0\.\d\d, total +0\.\d\d$", done.stdout, re.M)
    assert (folder / "best_tile.png").stat().st_size > 5000
    assert (folder / "sensitivity.png").stat().st_size > 5000


def test_notebook__runs(folder, monkeypatch):
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    client = nbclient.NotebookClient(
        deepcopy(NOTEBOOK), resources={"metadata": {"path": str(folder)}}, timeout=120
    )
    client.execute()


def test_notebook__holds_the_page_and_no_outputs():
    cells = NOTEBOOK.cells
    code = ["".join(cell.source) for cell in cells if cell.cell_type == "code"]
    assert code == [block.rstrip("\n") for block in blocks(PAGE)]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
