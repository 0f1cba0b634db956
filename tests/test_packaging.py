"""The ways in install the same versions, and the make targets are what they say."""

import os
import re
import subprocess
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parent.parent

# Conda has other names for the parts that we need of these.
CONDA_NAMES = {
    "dask": "dask-core",
    "matplotlib": "matplotlib-base",
    "ml-dtypes": "ml_dtypes",
    "snakemake": "snakemake-minimal",
}


def pyproject():
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(lines):
    """Package to version of lines like ``name==version``."""
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in found}


def named():
    """Requirement of every package that pyproject.toml names, by the package's name."""
    project = pyproject()
    lines = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    return {canonicalize_name(each.name): each for each in map(Requirement, lines)}


def locked():
    lines = (CHECKOUT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return pins(line for line in lines if not line.startswith("#"))


def closure(names):
    """Everything that the named distributions need, as installed."""
    waiting, found = [Requirement(name) for name in names], {}
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in found:
            continue
        found[key] = distribution(wanted.name)
        waiting += [
            needed
            for needed in map(Requirement, found[key].requires or [])
            if not needed.marker
            or any(needed.marker.evaluate({"extra": extra}) for extra in wanted.extras or {""})
        ]
    return {name: installed.version for (name, _), installed in found.items()}


def test_pyproject__every_dependency_has_its_lowest_version_and_every_tool_one_and_in_order():
    project = pyproject()
    needed, tools = project["project"]["dependencies"], project["dependency-groups"]["dev"]
    assert all(re.fullmatch(r"[a-z0-9-]+>=[0-9.]+", line) for line in needed)
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in tools)
    for lines in (needed, tools):
        assert lines == sorted(lines)


def test_requirements__are_what_pyproject_needs_and_nothing_else():
    assert locked() == closure(named()), (
        "requirements.txt is not what pyproject.toml needs in the environment that runs this test"
    )


def test_requirements__hold_versions_that_pyproject_allows():
    held = locked()
    assert [name for name, each in named().items() if held[name] not in each.specifier] == []


def test_requirements__name_no_registry():
    text = (CHECKOUT / "requirements.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|--|@", text)


def test_environment__has_the_versions_of_requirements():
    held = yaml.safe_load((CHECKOUT / "environment.yml").read_text(encoding="utf-8"))
    *conda, pip, of_pip = held["dependencies"]
    entries = dict(entry.split("=") for entry in conda)
    python = entries.pop("python")
    # What conda-forge lacks comes from PyPI.
    assert pip == "pip"
    entries |= pins(of_pip["pip"])
    held_by_pip = locked()
    assert entries == {CONDA_NAMES.get(name, name): held_by_pip[name] for name in named()}
    assert pyproject()["project"]["requires-python"] == f">={python}"
    assert held["channels"][0] == "conda-forge"


def make(*arguments):
    # Without what a make around the tests would hand down.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_make__lists_its_targets_when_asked_for_nothing():
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"\.PHONY: (.*)", makefile)[1].split()) - {"environment"}
    listed = dict(line.split(maxsplit=1) for line in make().splitlines()[1:])
    assert set(listed) == targets
    assert make() == make("help")


@pytest.mark.parametrize(
    "target", ["all", "lecture10", "lecture11", "own", "test", "lint", "readme"]
)
def test_make__targets_set_up_the_environment_first(target):
    assert make("--dry-run", target).splitlines()[0].startswith("cmp -s requirements.txt")


@pytest.mark.parametrize("script", [".ci/run", ".ci/environment", ".ci/upgrade"])
def test_ci__scripts_stop_at_the_first_failure(script):
    path = CHECKOUT / script
    assert path.stat().st_mode & 0o111
    assert "set -euo pipefail" in path.read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", path], check=True)


def test_ci__says_what_to_install_where_python_is_missing(tmp_path):
    done = subprocess.run(
        ["/bin/bash", CHECKOUT / ".ci/environment", tmp_path / "venv"],
        env={"PATH": str(bare_path(tmp_path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "apt install python3.11" in done.stderr
    assert not (tmp_path / "venv").exists()


def bare_path(folder):
    """A folder with the few commands that a script needs, and no Python."""
    place = folder / "bin"
    place.mkdir()
    for name in ("cat", "dirname"):
        (place / name).symlink_to(
            f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}"
        )
    return place
