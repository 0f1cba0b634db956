"""Sweeps that are interrupted, with real processes: they go on or end in words, and never hang."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import psutil
import pytest

from pipeline import store
from pipeline.errors import SweepError
from pipeline.region_store import RegionStore
from pipeline.sweep import remote
from pipeline.sweep.execute import SAMPLES, Limits, run
from pipeline.sweep.plan import Budget
from pipeline.sweep.progress import Progress
from tests.sweep import toy
from tests.sweep.test_execute import contents, swept

CHECKOUT = Path(__file__).parents[2]
ENOUGH = Budget(10**9, 10**9, 10**9)
PROMISED_SECONDS = 30


def python(*arguments, **options):
    """Start a process that sees this checkout."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=CHECKOUT,
        **options,
    )


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


@pytest.fixture
def started():
    """Start processes; whatever still runs at the end is killed."""
    processes = []

    def start(*arguments):
        processes.append(python(*arguments))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "toy.zarr"
    swept(path)
    return contents(path)


# One machine


def finished(path):
    journal = RegionStore(path).workplace / "journal"
    return len(journal.read_text().splitlines()) - 1 if journal.exists() else 0


def test_killed_job__goes_on_from_the_finished_regions(tmp_path, started, expected):
    path = tmp_path / "toy.zarr"
    job = started("-m", "tests.sweep.job", path, "slow", "0.3")
    wait_for(lambda: finished(path) >= 2)
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert not path.exists()
    log = swept(path)
    assert int(re.search(r"found (\d) finished regions", log)[1]) >= 2
    assert contents(path) == expected


def test_full_disk__ends_in_words_and_goes_on_when_there_is_room(tmp_path, started):
    path = tmp_path / "toy.zarr"
    job = started("-m", "tests.sweep.job", path, "full_disk", "20000")
    said, _ = job.communicate(timeout=60)
    assert job.returncode == 1
    assert "ERROR there is no room to write (File too large)" in said
    assert "Traceback" not in said
    assert not path.exists()
    sweep = toy.sweep({"x": 64, "y": 64}, toy.noise, x=256, y=64)
    swept(path, sweep=sweep)
    assert store.read(path).sizes["x"] == 256


def test_killed_process__ends_in_words(tmp_path):
    sweep = toy.sweep(compute=toy.killing(os.getpid()))
    with pytest.raises(SweepError, match="a process of the sweep was killed"):
        swept(tmp_path / "toy.zarr", "processes", 1, sweep)


# A cluster


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler on loopback: its process and its address."""
    log = tmp_path_factory.mktemp("scheduler") / "log"
    arguments = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with log.open("w") as opened:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", "scheduler", *arguments],
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            stdout=opened,
            stderr=subprocess.STDOUT,
        )
    wait_for(lambda: "Scheduler at:" in log.read_text())
    yield process, re.search(r"Scheduler at:\s+(\S+)", log.read_text())[1]
    process.kill()
    process.wait()


@pytest.fixture
def worker(started, scheduler, tmp_path):
    """Start a worker that nobody restarts."""

    def start():
        return started(
            *("-m", "dask", "worker", scheduler[1], "--nthreads", "1", "--no-nanny"),
            *("--no-dashboard", "--host", "127.0.0.1", "--local-directory", tmp_path / "work"),
        )

    return start


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE_SECONDS", 3.0)


class After(io.StringIO):
    """A log that does something, once, when the first region beyond the samples is finished."""

    def __init__(self, action):
        super().__init__()
        self._action = action
        self._finished = 0

    def write(self, text):
        self._finished += text.startswith("region ")
        if self._finished > SAMPLES and self._action:
            action, self._action = self._action, None
            threading.Thread(target=action).start()
        return super().write(text)


def swept_at(path, address, action, seconds=0.3):
    log = After(action)
    limits = Limits(address, 1, ENOUGH)
    run(toy.sweep(compute=toy.slowly(seconds)), RegionStore(path), "one", limits, Progress(log))


def test_patience__is_within_what_is_promised():
    assert remote.CONNECT_SECONDS + remote.PATIENCE_SECONDS + 5 <= PROMISED_SECONDS


def test_dead_address__ends_in_words(tmp_path):
    with pytest.raises(SweepError, match=r"no scheduler answers at tcp://127.0.0.1:9"):
        swept(tmp_path / "toy.zarr", "tcp://127.0.0.1:9")


def test_no_worker__ends_in_words(tmp_path, scheduler, impatient):
    with pytest.raises(SweepError, match="has no worker; start some with `dask worker"):
        swept(tmp_path / "toy.zarr", scheduler[1])


def test_killed_worker__changes_nothing(tmp_path, scheduler, worker, expected):
    workers = [worker(), worker()]
    with remote._client(scheduler[1]) as client:
        client.wait_for_workers(2, timeout=60)
    swept_at(tmp_path / "toy.zarr", scheduler[1], workers[0].kill)
    assert workers[0].wait(10) == -signal.SIGKILL
    assert contents(tmp_path / "toy.zarr") == expected


def test_all_workers_killed__ends_in_words_and_goes_on(
    tmp_path, scheduler, worker, impatient, expected
):
    path, alone = tmp_path / "toy.zarr", worker()
    with remote._client(scheduler[1]) as client:
        client.wait_for_workers(1, timeout=60)
    with pytest.raises(SweepError, match="are gone, or the scheduler is; what is finished is kept"):
        swept_at(path, scheduler[1], alone.kill)
    assert not path.exists()
    assert "found" in swept(path)
    assert contents(path) == expected


def test_killed_scheduler__ends_in_words(tmp_path, scheduler, worker, impatient):
    process, address = scheduler
    worker()
    with remote._client(address) as client:
        client.wait_for_workers(1, timeout=60)
    with pytest.raises(SweepError, match="are gone, or the scheduler is"):
        swept_at(tmp_path / "toy.zarr", address, process.kill)


# A cluster of this machine's own


def test_region_that_kills_every_worker__ends_in_words(tmp_path):
    sweep = toy.sweep(compute=toy.killing(os.getpid()))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(SweepError, match="has killed 1 workers one after the other"),
    ):
        swept(tmp_path / "toy.zarr", "cluster", 1, sweep)


def test_local_cluster__listens_on_loopback_only():
    with remote.local_cluster(1) as address:
        me = psutil.Process()
        processes = [me, *me.children(recursive=True)]
        listening = {
            connection.laddr.ip
            for process in processes
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert address.startswith("tcp://127.0.0.1:")
    assert listening == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("threads", False),
        ("cluster", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tls://10.0.0.7:8786", False),
        ("wss://head:8786", False),
        ("tcp://10.0.0.7:8786", True),
        ("tcp://head:8786", True),
        ("ws://head:8786", True),
        ("ucx://127.0.0.1.example.org:8786", True),
    ],
)
def test_exposure__warns_of_what_others_may_reach(address, warned):
    said = remote.exposure(address)
    assert said.startswith("WARNING: traffic with ") == warned
    assert bool(said) == warned


def test_run__says_that_a_scheduler_may_be_reached_by_others(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "CONNECT_SECONDS", 0.2)
    log, limits = io.StringIO(), Limits("tcp://0.0.0.0:9", 1, ENOUGH)
    with pytest.raises(SweepError, match="no scheduler answers"):
        run(toy.sweep(), RegionStore(tmp_path / "toy.zarr"), "one", limits, Progress(log))
    assert "WARNING: traffic with tcp://0.0.0.0:9 is neither" in log.getvalue()


def test_worker_with_other_code__is_refused():
    identity = ("0" * 64, {"numpy": "1.0"})
    with pytest.raises(SweepError, match="a worker has other code or libraries"):
        remote._checked_compute(toy.computed, toy.coordinates(), identity)
