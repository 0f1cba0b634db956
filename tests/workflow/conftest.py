"""Copies of the checkout that the workflow runs in."""

import fcntl

import pytest

from tests.workflow.scratch import Scratch, copy_checkout


@pytest.fixture(scope="session")
def whole(tmp_path_factory, worker_id):
    """A copy in which everything is made, once for all workers. Nothing may be done in it."""
    place = tmp_path_factory.getbasetemp()
    place = (place if worker_id == "master" else place.parent) / "whole"
    with place.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            lock.write(f"built by {worker_id}\n")
            unfinished = copy_checkout(tmp_path_factory.mktemp("whole"))
            code, shown = unfinished.process("snakemake", "all")
            assert code == 0, shown
            unfinished.folder.parent.rename(place)
    return Scratch(place / "copy", place / "home")


@pytest.fixture(scope="session")
def built(whole, tmp_path_factory):
    """A copy in which everything is made. A test must leave it as it was."""
    return whole.copied(tmp_path_factory.mktemp("built"))


@pytest.fixture
def changed(whole, tmp_path):
    """A copy in which everything is made, to change at will."""
    return whole.copied(tmp_path)


@pytest.fixture
def fresh(tmp_path):
    """A copy in which nothing is made yet, to break at will."""
    return copy_checkout(tmp_path)
