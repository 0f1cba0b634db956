"""One run at a time, whatever happened to the one before."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline import run_lock
from pipeline.errors import RunError

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Folder of the locks; what a run tells its jobs is forgotten afterwards."""
    monkeypatch.setenv(run_lock.RUN, "")
    monkeypatch.delenv(run_lock.RUN)
    return tmp_path / ".run"


@pytest.fixture
def joined(monkeypatch):
    """Let this process join as a job; gives what it holds, to be closed where the job ends."""
    opened = []

    def open_and_remember(path, flags, mode=0o777, *, dir_fd=None):
        opened.append(os_open(path, flags, mode, dir_fd=dir_fd))
        return opened[-1]

    os_open = os.open

    def join(folder):
        with monkeypatch.context() as patched:
            patched.setattr(os, "open", open_and_remember)
            run_lock.join(folder)
        return opened[-1]

    return join


def program(folder, statements):
    """Start a process that holds the lock and then goes on with some statements."""
    text = (
        "from pathlib import Path\nimport os, sys, time\nfrom pipeline import run_lock\n"
        f"with run_lock.held(Path({str(folder)!r})):\n    print('held', flush=True)\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", text + "".join(f"    {line}\n" for line in statements)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout.readline() == "held\n"
    return started


def end(process, how):
    process.send_signal(how)
    process.wait()
    process.stdout.close()


def test_held__a_second_run_is_refused_with_the_process_of_the_first(folder):
    first = program(folder, ["time.sleep(60)"])
    try:
        with pytest.raises(RunError) as refused, run_lock.held(folder):
            pass
    finally:
        end(first, signal.SIGKILL)
    said = f"{folder.parent}: another run is at work here, process {first.pid} on "
    assert f"{refused.value}".startswith(said)


def test_held__a_run_that_was_killed_leaves_nothing_to_unlock(folder):
    end(program(folder, ["time.sleep(60)"]), signal.SIGKILL)
    with run_lock.held(folder):
        assert os.environ[run_lock.RUN].startswith(f"{os.getpid()} on ")


def test_held__can_be_taken_again_after_an_error(folder):
    with pytest.raises(ZeroDivisionError), run_lock.held(folder):
        raise ZeroDivisionError
    with run_lock.held(folder), pytest.raises(RunError), run_lock.held(folder):
        pass


def test_held__waits_for_jobs_of_a_run_that_is_gone(folder, joined, capsys):
    with run_lock.held(folder):
        job = joined(folder)
    begun = threading.Event()

    def run():
        with run_lock.held(folder):
            begun.set()

    after = threading.Thread(target=run)
    after.start()
    assert not begun.wait(0.2)
    os.close(job)
    after.join(60)
    assert begun.is_set()
    assert "jobs of it are at work: waiting" in capsys.readouterr().err


def test_held__is_silent_where_nothing_is_in_the_way(folder, capsys):
    with run_lock.held(folder):
        pass
    assert capsys.readouterr() == ("", "")


def test_join__many_jobs_of_one_run_are_at_work_together(folder, joined):
    with run_lock.held(folder):
        for job in [joined(folder), joined(folder)]:
            os.close(job)


def test_join__a_job_that_comes_after_the_next_run_has_begun_stops(folder, joined, monkeypatch):
    with run_lock.held(folder):
        killed = os.environ[run_lock.RUN]
    with run_lock.held(folder):
        monkeypatch.setenv(run_lock.RUN, killed)
        with pytest.raises(RunError, match="is gone, and another run has begun"):
            joined(folder)


def test_join__a_script_that_no_run_started_needs_no_lock(folder):
    run_lock.join(folder)
    assert not folder.exists()


def test_held__a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / ".run"
    with pytest.raises(RunError) as refused, run_lock.held(folder):
        pass
    assert f"{refused.value}".startswith(f"{folder}: no lock can be kept here (")


def test_held__a_file_system_without_locks_is_named(folder, monkeypatch):
    def no_locks(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(RunError, match="No locks available"), run_lock.held(folder):
        pass


def plugin(dry):
    return SimpleNamespace(common_settings=SimpleNamespace(dryrun_exec=dry))


def test_one_at_a_time__only_a_dry_run_goes_on_beside_another(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    planned = run_lock.one_at_a_time(lambda *, executor_plugin, targets: targets)
    assert planned(executor_plugin=plugin(dry=False), targets=["all"]) == ["all"]
    with run_lock.held(run_lock.FOLDER):
        assert planned(executor_plugin=plugin(dry=True), targets=["all"]) == ["all"]
        with pytest.raises(SystemExit, match="another run is at work here"):
            planned(executor_plugin=plugin(dry=False), targets=["all"])


def test_held__a_full_disk_is_named_before_anything_runs(folder, monkeypatch):
    full = shutil.disk_usage(folder.parent)._replace(free=99_999)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: full)
    with pytest.raises(RunError, match="No space left on device"), run_lock.held(folder):
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_one_at_a_time__what_the_disk_refuses_is_one_message(folder, monkeypatch, number):
    def execute(*, executor_plugin):
        raise OSError(number, os.strerror(number), "results/a")

    monkeypatch.chdir(folder.parent)
    with pytest.raises(SystemExit, match=f"results/a: {os.strerror(number)}: "):
        run_lock.one_at_a_time(execute)(executor_plugin=plugin(dry=False))


def test_one_at_a_time__a_bug_stays_a_bug(folder, monkeypatch):
    def execute(*, executor_plugin):
        raise FileNotFoundError(errno.ENOENT, "gone", "results/a")

    monkeypatch.chdir(folder.parent)
    with pytest.raises(FileNotFoundError):
        run_lock.one_at_a_time(execute)(executor_plugin=plugin(dry=False))


def test_one_at_a_time__what_follows_follows_a_success_alone(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    done = []

    def execute(*, executor_plugin, result):
        done.append("executed")
        if not result:
            raise ZeroDivisionError
        return result

    run = run_lock.one_at_a_time(execute, lambda: done.append("after"))
    assert run(executor_plugin=plugin(dry=False), result=1) == 1
    assert done == ["executed", "after"]
    assert run(executor_plugin=plugin(dry=True), result=2) == 2
    with pytest.raises(ZeroDivisionError):
        run(executor_plugin=plugin(dry=False), result=0)
    assert done == ["executed", "after", "executed", "executed"]
