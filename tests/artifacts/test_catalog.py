import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.catalog import CATALOG, OWN, OWN_CUDA
from pipeline.config.models import Config
from tests.artifacts.stores import STORES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "pipeline/artifacts"
MODULES = {
    (lecture, key): module for lecture, ids in CATALOG.items() for key, module in ids.items()
}
FUNCTIONS = ("table", "drawn", "facts")


def functions(module):
    return {name: getattr(module, name) for name in FUNCTIONS if hasattr(module, name)}


def test_catalog__lists_every_artifact_file():
    on_disk = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in ("lecture*", "own")
        for path in FOLDER.glob(f"{folder}/*.py")
        if path.name != "__init__.py"
    }
    assert on_disk == {*MODULES.values(), *OWN.values(), *OWN_CUDA.values()}


def test_catalog__no_two_artifacts_share_an_id():
    ids = [key for _, key in MODULES]
    assert len(ids) == len(set(ids))
    assert len(MODULES) == len(set(MODULES.values()))


def test_catalog__does_not_import_what_it_lists():
    tree = ast.parse((FOLDER / "catalog.py").read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("name", MODULES.values())
def test_artifact_module__imports_no_other_artifact_and_not_the_catalog(name):
    tree = ast.parse((ROOT / f"{name.replace('.', '/')}.py").read_text())
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        )
    }
    makers = {f"pipeline.artifacts.{one}" for one in ("catalog", "make", "make_figure")}
    forbidden = {*MODULES.values(), *makers}
    assert not imported & forbidden


@pytest.mark.parametrize(("lecture", "key"), MODULES)
def test_artifact__declares_what_its_functions_take(lecture, key):
    module = import_module(MODULES[lecture, key])
    artifact = module.ARTIFACT
    assert isinstance(artifact, Artifact)
    assert (artifact.lecture, artifact.id) == (lecture, key)
    assert set(artifact.needs.values()) <= set(STORES)
    section = Config.model_fields[f"lecture{lecture}"].annotation
    assert set(artifact.parameters) <= set(section.model_fields)
    taken = {
        parameter
        for function in functions(module).values()
        for parameter in inspect.signature(function).parameters
    }
    assert taken - {"say"} == {*artifact.needs, *artifact.parameters}


@pytest.mark.parametrize("name", MODULES.values())
def test_artifact_module__has_a_table_or_a_figure_whole(name):
    module = import_module(name)
    assert hasattr(module, "facts")
    assert hasattr(module, "table") or hasattr(module, "draw")
    assert hasattr(module, "draw") == hasattr(module, "drawn")
    assert hasattr(module, "COLUMNS") <= hasattr(module, "table")
    assert bool(module.ARTIFACT.reading) == hasattr(module, "draw")


def test_artifact_modules__load_no_matplotlib():
    # Every start of Snakemake imports them, to plan; most draw nothing.
    every = [*MODULES.values(), *OWN.values(), *OWN_CUDA.values(), "pipeline.site.build"]
    code = f"import sys, {', '.join(every)}; print('matplotlib' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"
