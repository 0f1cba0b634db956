"""The same bytes wherever a sweep runs."""

import io
import sys

import pytest

from pipeline import store
from pipeline.errors import DataError, SweepError
from pipeline.region_store import RegionStore
from pipeline.sweep.execute import Limits, run
from pipeline.sweep.plan import Budget
from pipeline.sweep.progress import Progress
from tests.sweep import toy

ENOUGH = Budget(10**9, 10**9, 10**9)


def swept(path, scheduler="threads", workers=1, sweep=None, budget=ENOUGH, identity="one"):
    """Run the toy sweep; gives its log."""
    log = io.StringIO()
    limits = Limits(scheduler, workers, budget)
    run(sweep or toy.sweep(), RegionStore(path), identity, limits, Progress(log))
    return log.getvalue()


def contents(path):
    """Every file of a store."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The store of one thread, and its bytes."""
    path = tmp_path_factory.mktemp("one") / "toy.zarr"
    swept(path)
    assert store.read(path).equals(toy.whole())
    return contents(path)


@pytest.mark.parametrize(
    ("scheduler", "workers"),
    [("synchronous", 1), ("threads", 2), ("processes", 2), ("cluster", 2)],
)
def test_run__gives_the_same_bytes_everywhere(tmp_path, expected, scheduler, workers):
    swept(tmp_path / "toy.zarr", scheduler, workers)
    assert contents(tmp_path / "toy.zarr") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["toy.zarr"]


def test_run__says_what_it_will_do_and_each_step(tmp_path):
    lines = swept(tmp_path / "toy.zarr").splitlines()
    assert lines[0] == "toy: 6 x x 4 y x 2 label = 48 points"
    assert sum(line.startswith("region ") for line in lines) == 6
    assert "100.0%, 48 of 48 points" in lines[-1]


def test_run__over_budget_stops_before_anything_is_written(tmp_path):
    with pytest.raises(SweepError, match="points 48 of at most 47"):
        swept(tmp_path / "toy.zarr", budget=Budget(47, 10**9, 10**9))
    assert list(tmp_path.iterdir()) == []


def test_run__takes_over_what_a_stopped_run_had_finished(tmp_path, expected):
    path = tmp_path / "toy.zarr"
    half = toy.sweep(compute=toy.failing_late())
    with pytest.raises(RuntimeError, match="enough"):
        swept(path, sweep=half)
    log = swept(path)
    assert "found 3 finished regions" in log
    assert sum(line.startswith("region ") for line in log.splitlines()) == 3
    assert contents(path) == expected


def test_run__starts_anew_for_another_result(tmp_path):
    path = tmp_path / "toy.zarr"
    with pytest.raises(RuntimeError, match="enough"):
        swept(path, sweep=toy.sweep(compute=toy.failing_late()), identity="another")
    assert "found" not in swept(path)


def test_run__puts_the_main_script_back(tmp_path):
    before = sys.modules["__main__"].__dict__.get("__file__")
    swept(tmp_path / "toy.zarr", "processes", 1)
    assert sys.modules["__main__"].__dict__.get("__file__") == before


def test_run__a_region_that_breaks_its_promise_is_an_error(tmp_path):
    with pytest.raises(DataError, match="a region brings"):
        swept(tmp_path / "toy.zarr", sweep=toy.sweep(compute=toy.odd))


def test_run__a_coordinate_of_nothing_but_zero_is_there(tmp_path):
    swept(tmp_path / "toy.zarr", sweep=toy.sweep(x=1, y=1))
    assert store.read(tmp_path / "toy.zarr")["y"].values.tolist() == [0]
