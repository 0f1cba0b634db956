"""The code digest: what changes it, what does not, and what it refuses."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from pipeline import provenance
from pipeline.provenance import code_digest, library_versions, texts, told

CHECKOUT = Path(__file__).resolve().parent.parent

SOURCES = {
    "pipeline/__init__.py": '"""The package."""\n',
    "pipeline/area/__init__.py": '"""An area."""\n',
    "pipeline/area/deep.py": "def twice(x):\n    return 2 * x\n",
    "pipeline/middle.py": (
        "from pipeline.area import deep\n\n\ndef four(x):\n    return deep.twice(2) * x\n"
    ),
    "pipeline/top.py": "from pipeline.middle import four\n\nVALUE = four(1)\n",
    "pipeline/apart.py": "VALUE = 7\n",
    "workflow/scripts/stage.py": "from pipeline import top\n\nprint(top.VALUE)\n",
}


@pytest.fixture
def tree(tmp_path):
    """A small package, and a function that digests one of its targets after an edit."""
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def digest(tree, *targets):
    """Digest as a fresh process would take it: files are read once per process."""
    provenance._source.cache_clear()
    provenance._module_file.cache_clear()
    provenance._modules_behind.cache_clear()
    return code_digest(*targets, checkout=tree)


def edited(tree, name, text, *targets):
    before = digest(tree, *targets)
    (tree / name).write_text(text)
    return before, digest(tree, *targets)


@pytest.mark.parametrize(
    "text",
    [
        "# why two\ndef twice(x):\n    return 2 * x  # doubled\n",
        '"""Module."""\n\n\ndef twice(x):\n    """Double ``x``."""\n    return 2 * x\n',
        "def twice(x):\n\n    return (2 *\n            x)\n",
    ],
    ids=["comment", "docstring", "layout"],
)
def test_digest__ignores_what_does_not_run(tree, text):
    before, after = edited(tree, "pipeline/area/deep.py", text, "pipeline.top")
    assert before == after


@pytest.mark.parametrize(
    ("old", "new"),
    [("2 * x", "3 * x"), ("2 * x", "2.0 * x"), ("twice(x)", "twice(x=1)"), ("return", "yield")],
)
def test_digest__sees_any_other_edit_behind_two_imports(tree, old, new):
    text = SOURCES["pipeline/area/deep.py"].replace(old, new)
    before, after = edited(tree, "pipeline/area/deep.py", text, "pipeline.top")
    assert before != after


def test_digest__ignores_modules_that_are_not_imported(tree):
    before, after = edited(tree, "pipeline/apart.py", "VALUE = 8\n", "pipeline.top")
    assert before == after


def test_digest__docstring_in_an_empty_package_file_is_free(tree):
    before, after = edited(tree, "pipeline/area/__init__.py", "", "pipeline.top")
    assert before == after


def test_digest__sees_code_in_the_package_file_of_a_module(tree):
    before, after = edited(tree, "pipeline/area/__init__.py", "SEED = 1\n", "pipeline.area.deep")
    assert before != after


def test_digest__a_removed_statement_is_not_the_same_as_none(tree):
    before, after = edited(tree, "pipeline/apart.py", "VALUE = None\n", "pipeline.apart")
    _, removed = edited(tree, "pipeline/apart.py", "", "pipeline.apart")
    assert len({before, after, removed}) == 3


def test_digest__takes_a_script_by_its_path(tree):
    script = "workflow/scripts/stage.py"
    text = SOURCES["pipeline/area/deep.py"].replace("2", "3")
    before, after = edited(tree, "pipeline/area/deep.py", text, script)
    assert before != after
    before, after = edited(tree, script, "from pipeline import top\n\nprint(-top.VALUE)\n", script)
    assert before != after


def test_digest__order_and_repetition_of_targets_do_not_matter(tree):
    targets = ("pipeline.top", "pipeline.apart")
    assert digest(tree, *targets) == digest(tree, *reversed(targets), "pipeline.top")


def test_digest__does_not_depend_on_the_folder(tree, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "copy"
    for name, text in SOURCES.items():
        (elsewhere / name).parent.mkdir(parents=True, exist_ok=True)
        (elsewhere / name).write_text(text)
    assert digest(tree, "pipeline.top") == digest(elsewhere, "pipeline.top")


def test_digest__does_not_depend_on_the_hash_seed(tmp_path):
    program = (
        "from pipeline.provenance import code_digest; print(code_digest('pipeline.vocab.counters'))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=CHECKOUT,
            # Nothing is kept of one run for the other.
            env={"PYTHONHASHSEED": seed, "PYTHONPYCACHEPREFIX": str(tmp_path / seed)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("pipeline.tpo", "no module 'pipeline.tpo'"),
        ("numpy", "no module 'numpy'"),
        ("workflow/scripts/none.py", "no script workflow/scripts/none.py"),
    ],
)
def test_digest__refuses_what_does_not_exist(tree, target, text):
    with pytest.raises(ValueError, match=text):
        digest(tree, target)


def test_digest__refuses_relative_imports(tree):
    (tree / "pipeline/top.py").write_text("from .middle import four\n")
    with pytest.raises(ValueError, match=r"top\.py, line 1: relative import"):
        digest(tree, "pipeline.top")


def test_digest__refuses_broken_syntax_by_file_and_line(tree):
    (tree / "pipeline/middle.py").write_text("x = 1\ndef (\n")
    with pytest.raises(ValueError, match=r"middle\.py, line 2"):
        digest(tree, "pipeline.top")


def test_library_versions__are_the_installed_ones():
    versions = library_versions("matplotlib")
    assert versions["matplotlib"] == version("matplotlib")
    assert {"numpy", "numba", "xarray", "zarr"} < set(versions)
    assert list(versions) == sorted(versions)


def test_texts__are_those_of_the_module_and_of_all_that_it_imports(tree):
    (tree / "pipeline/area/deep.py").write_text('SAID = "one " "text"\nMORE = f"with {SAID}"\n')
    (tree / "pipeline/apart.py").write_text('OTHER = "elsewhere"\n')
    provenance._source.cache_clear()
    found = texts("pipeline.top", checkout=tree)
    assert {"one text", "with "} <= found
    assert "elsewhere" not in found


MADE_BY = {"settings": {"n": 4096, "a": "\u00b5"}, "code": "0" * 64, "versions": {"numpy": "2"}}


def test_told__is_one_line_that_the_order_of_parameters_does_not_change():
    said = told(MADE_BY)
    assert said.isascii()
    assert "\n" not in said
    assert said == told(dict(reversed(MADE_BY.items())))
    assert json.loads(said) == {
        "code": "0" * 64,
        "settings": {"settings": {"n": 4096, "a": "\u00b5"}},
        "versions": {"numpy": "2"},
    }


def test_told__a_long_setting_is_told_by_its_digest():
    one, other = ({"sheets": {f"gpu{i}": i for i in range(size)}, "n": 1} for size in (2000, 2001))
    settings = json.loads(told(one))["settings"]
    assert settings["n"] == 1
    assert re.fullmatch("sha256:[0-9a-f]{64}", settings["sheets"])
    assert told(one) != told(other)


def test_imported_distributions__are_those_that_are_not_listed_anyway(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import math\nimport numpy as np\nimport yaml\nfrom pipeline.store import read\n"
    )
    (tmp_path / "more.py").write_text("def f():\n    from jinja2.sandbox import Environment\n")
    (tmp_path / "none.py").write_text("import math, not_installed\n")

    def named(*files):
        return provenance.imported_distributions(*files, checkout=tmp_path)

    assert named("mine.py") == ["PyYAML"]
    assert named("mine.py", "more.py") == ["Jinja2", "PyYAML"]
    assert named("none.py") == named() == []
