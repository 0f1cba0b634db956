"""Copies of the checkout that the workflow runs in."""

import pytest

from tests.workflow.scratch import copy_checkout


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A copy in which everything is made. A test must leave it as it was."""
    scratch = copy_checkout(tmp_path_factory.mktemp("built"))
    code, shown = scratch.snakemake("all")
    assert code == 0, shown
    return scratch


@pytest.fixture
def fresh(tmp_path):
    """A copy in which nothing is made yet, to break at will."""
    return copy_checkout(tmp_path)
