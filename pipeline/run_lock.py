"""One run at a time in a folder, however the run before it ended.

There are two locks, and the kernel gives both back when the process that holds them ends, killed or
not: nothing is ever left behind that a person would have to unlock.

``.run/lock`` belongs to a run, from before it plans until it ends. Another run is refused at once.

``.run/jobs`` is shared by all jobs at work. Jobs live on when their run is killed, and what they
write would come between the files of the next run. So the next run waits for them, and then puts
its own name into the file. A job that had not begun by then finds a name that is not that of its
run, and stops before it has written anything.
"""

import errno
import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from uuid import uuid4

from pipeline.errors import RunError, refused_by_disk

FOLDER = Path(".run")
RUN = "PAPER_GPU_RUN"
"""Environment variable by which a job knows its run."""

_LOCK, _JOBS = "lock", "jobs"
_NAME_BYTES = 1000
_ROOM_BYTES = 100_000
"""With less room on the disk nothing can be made, and Snakemake's own messages are lost."""


def one_at_a_time(
    execute: Callable[..., Any], afterwards: Callable[[], None] = lambda: None
) -> Callable[..., Any]:
    """Let the workflow plan and run jobs only while no other run does.

    Parameters
    ----------
    execute
        What plans and runs, as the workflow has it. It takes ``executor_plugin`` by name; that of a
        dry run changes nothing and needs no lock.
    afterwards
        Called when it has succeeded, or has found nothing to do.

    Returns
    -------
    callable
        The same, which ends the program with one message where another run is at work, or where the
        disk takes no files.
    """

    @wraps(execute)
    def alone(*, executor_plugin: Any, **settings: Any) -> Any:
        if executor_plugin.common_settings.dryrun_exec:
            return execute(executor_plugin=executor_plugin, **settings)
        try:
            with held(FOLDER):
                result = execute(executor_plugin=executor_plugin, **settings)
                afterwards()
                return result
        except RunError as error:
            sys.exit(f"{error}")
        except OSError as error:
            if refused := refused_by_disk(error):
                sys.exit(refused)
            raise

    return alone


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; wait for jobs of a run that is gone.

    Parameters
    ----------
    folder
        Where the files of the locks are; made where it is not there.

    Raises
    ------
    RunError
        If another run holds it, or the folder cannot be written.
    """
    try:
        run, jobs = _open(folder / _LOCK), _open(folder / _JOBS)
        _take(run, folder)
        _wait_for(jobs)
        if shutil.disk_usage(folder).free < _ROOM_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.environ[RUN] = f"{os.getpid()} on {os.uname().nodename}, {uuid4()}"
        for descriptor in (run, jobs):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, os.environ[RUN].encode(), 0)
        os.close(jobs)
    except OSError as error:
        raise RunError(
            f"{folder.resolve()}: no lock can be kept here ({error.strerror}); a run needs it, and "
            f"makes its results beside it: take a folder that you may write, on a disk that is not "
            f"full and that supports flock"
        ) from error
    try:
        yield
    finally:
        os.close(run)


def join(folder: Path = FOLDER) -> None:
    """Count this process among the jobs of its run, until it ends; without a run do nothing.

    Raises
    ------
    RunError
        If that run is gone, and another one has begun.
    """
    run = os.environ.get(RUN)
    if run is None:
        return
    # Left open on purpose: the lock lasts as long as the process.
    jobs = _open(folder / _JOBS)
    fcntl.flock(jobs, fcntl.LOCK_SH)
    if _read(jobs) != run:
        raise RunError(
            "the run that started this job is gone, and another run has begun: this job stops"
        )


def _open(path: Path) -> int:
    """Open a file of a lock; it is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT)


def _take(run: int, folder: Path) -> None:
    try:
        fcntl.flock(run, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process = _read(run).partition(",")[0]
        raise RunError(
            f"{folder.resolve().parent}: another run is at work here, process {process}; two at "
            f"once would undo each other's work: wait until it ends, or end it with kill"
        ) from None


def _wait_for(jobs: int) -> None:
    try:
        fcntl.flock(jobs, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write(
            "The run before was killed, and jobs of it are at work: waiting for them.\n"
        )
        fcntl.flock(jobs, fcntl.LOCK_EX)


def _read(descriptor: int) -> str:
    return os.pread(descriptor, _NAME_BYTES, 0).decode(errors="replace")
