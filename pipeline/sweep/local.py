"""Run the regions of a sweep on this machine: dask's threads or processes."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dask.base import compute
from dask.callbacks import Callback
from dask.delayed import delayed

from pipeline.errors import SweepError
from pipeline.sweep.layout import Region, Sweep

LOCAL = ("threads", "processes", "synchronous")
"""Schedulers of dask that need no server."""

Write = Callable[[Region, Any], str]
Finish = Callable[[int, str], None]


def run_local(
    sweep: Sweep,
    todo: Mapping[int, Region],
    write: Write,
    finish: Finish,
    scheduler: str,
    workers: int,
) -> None:
    """Compute and write every region of ``todo``.

    Parameters
    ----------
    sweep
        What to compute.
    todo
        Regions by number.
    write
        Stores the variables of a region and gives their digest; called where they are computed.
    finish
        Told of every region that is stored, here, one at a time.
    scheduler
        One of :data:`LOCAL`.
    workers
        Threads or processes.

    Raises
    ------
    SweepError
        If a process dies.
    """
    tasks = [
        delayed(_compute_and_write, pure=False)(
            sweep.compute, sweep.part(region), region, write, dask_key_name=("region", number)
        )
        for number, region in todo.items()
    ]
    with _Finished(finish), main_left_alone(), _dead_process_explained():
        compute(*tasks, scheduler=scheduler, num_workers=workers, chunksize=1)


def _compute_and_write(
    compute: Callable[[Any], Any], part: Any, region: Region, write: Write
) -> str:
    return write(region, compute(part))


class _Finished(Callback):
    """Hands the digest of every finished region on."""

    def __init__(self, finish: Finish) -> None:
        super().__init__()
        self._tell = finish

    def _posttask(self, key: Any, result: Any, *_: Any) -> None:
        if isinstance(key, tuple) and key[0] == "region":
            self._tell(key[1], result)


@contextmanager
def _dead_process_explained() -> Iterator[None]:
    # Imported here: only this place needs it, and only where processes were asked for.
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool:
        raise SweepError(
            "a process of the sweep was killed, perhaps for want of memory; what is finished is "
            "kept: run the same command again, with fewer threads or smaller chunks"
        ) from None


@contextmanager
def main_left_alone() -> Iterator[None]:
    """Keep new processes from running this process's main script again.

    A child of multiprocessing imports the script of its parent, which for a job of a workflow means
    to do the whole job once more. Nothing that a sweep sends to its workers is defined there.
    """
    main = sys.modules["__main__"]
    path = main.__dict__.pop("__file__", None)
    try:
        yield
    finally:
        if path is not None:
            main.__file__ = path


def unfinished(regions: Sequence[Region], done: set[int]) -> dict[int, Region]:
    """Give numbers to regions, and leave out those that are done."""
    return {number: region for number, region in enumerate(regions) if number not in done}
