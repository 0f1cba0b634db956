"""Run the regions of a sweep on a ``distributed`` cluster, and end in words when it falls apart.

Workers compute; this process writes, so that workers need not share a disk with it. Regions whose
worker died are computed again by another one, to the same bytes.
"""

import logging
import queue
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import xarray as xr
from distributed import Client, Future, KilledWorker, LocalCluster

from pipeline.errors import SweepError
from pipeline.provenance import ROOT_PACKAGE, code_digest, library_versions
from pipeline.sweep.layout import Region, Sweep
from pipeline.sweep.local import Finish, Write, main_left_alone

CONNECT_SECONDS = 10.0
"""How long a scheduler may take to answer."""

PATIENCE_SECONDS = 15.0
"""How long there may be no worker, or no scheduler, before the sweep ends."""

AHEAD = 3
"""Regions per worker thread that are sent ahead; bounds memory here and there."""

LOOPBACK = "127.0.0.1"

_ENCRYPTED = ("tls", "wss")

Identity = tuple[str, dict[str, str]]
"""Digest of code, and versions of libraries."""

_POLL_SECONDS = 0.5
_WHAT_NOW = "what is finished is kept: start workers and run the same command again"


def run_remote(
    sweep: Sweep,
    todo: Mapping[int, Region],
    write: Write,
    finish: Finish,
    address: str,
) -> None:
    """Compute every region of ``todo`` on the cluster at ``address`` and write it here.

    Arguments as in :func:`pipeline.sweep.local.run_local`.

    Raises
    ------
    SweepError
        Within half a minute if there is no scheduler, no worker, none left, or one with other code.
    """
    with _client(address) as client:
        _Run(sweep, client, address, write, finish).go(todo)


def exposure(address: str) -> str:
    """Warn of a scheduler that others may reach; nothing for one on this machine, or with TLS.

    >>> exposure("tcp://127.0.0.1:8786")
    ''
    """
    found = urlsplit(address)
    if found.scheme in _ENCRYPTED or found.hostname is None or _is_loopback(found.hostname):
        return ""
    return (
        f"WARNING: traffic with {address} is neither encrypted nor authenticated: whoever reaches "
        f"that port can run code on the workers and change results; see Security in "
        f"docs/CLUSTERS.md"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """Start a scheduler and worker processes that listen on this machine only; give the address."""
    with (
        main_left_alone(),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            silence_logs=logging.ERROR,
        ) as cluster,
    ):
        yield cluster.scheduler_address


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SweepError(
            f"no scheduler answers at {address} ({error}); start one with `dask scheduler`, or "
            f"set sweeps.execution.scheduler and DASK_SCHEDULER_ADDRESS right"
        ) from None
    try:
        yield client
    finally:
        # A scheduler that is gone would be waited for.
        client.close(timeout=2)


@dataclass
class _Run:
    """One run on a cluster."""

    sweep: Sweep
    client: Client
    address: str
    write: Write
    finish: Finish

    def go(self, todo: Mapping[int, Region]) -> None:
        """Keep the workers busy until everything is written."""
        waiting = dict(todo)
        threads = self._threads_when_ready()
        identity = _code_of(self.sweep.compute)
        flying: dict[int, Future] = {}
        done: queue.SimpleQueue[int] = queue.SimpleQueue()
        while waiting or flying:
            for number in list(waiting)[: max(1, AHEAD * threads) - len(flying)]:
                future = self._submit(waiting[number], identity)
                flying[number] = future
                del waiting[number]
                future.add_done_callback(lambda _, number=number: done.put(number))
            number = self._next(done)
            future = flying.pop(number)
            self._keep(number, todo[number], future)
            threads = max(threads, self._threads())

    def _submit(self, region: Region, identity: Identity) -> Future:
        return self.client.submit(
            _checked_compute,
            self.sweep.compute,
            # Workers may have no disk in common with this process.
            self.sweep.part(region).load(),
            identity,
            pure=False,
        )

    def _keep(self, number: int, region: Region, future: Future) -> None:
        """Write what came back."""
        try:
            result: xr.Dataset = future.result(timeout=PATIENCE_SECONDS)
        except KilledWorker as error:
            raise SweepError(
                f"region {number} has killed {error.allowed_failures + 1} workers one after the "
                f"other, perhaps for want of memory; {_WHAT_NOW}, with more memory or smaller "
                f"chunks"
            ) from None
        except SweepError:
            raise
        except Exception as error:
            if future.status in ("cancelled", "lost", "pending"):
                raise self._gone() from None
            raise SweepError(f"region {number} failed on a worker: {error!r}") from error
        self.finish(number, self.write(region, result))

    def _next(self, done: "queue.SimpleQueue[int]") -> int:
        """Wait for a region, as long as there is somebody to compute it."""
        alone_since = None
        while True:
            try:
                return done.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                pass
            if self._threads():
                alone_since = None
                continue
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > PATIENCE_SECONDS:
                raise self._gone()

    def _threads_when_ready(self) -> int:
        """Wait for the first worker."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not (threads := self._threads()):
            if time.monotonic() > until:
                raise SweepError(
                    f"the scheduler at {self.address} has no worker; start some with `dask worker "
                    f"{self.address}` in an environment of this project"
                )
            time.sleep(_POLL_SECONDS)
        return threads

    def _threads(self) -> int:
        """Threads of all workers that the scheduler knows; none while it does not answer."""
        try:
            per_worker = self.client.sync(
                self.client.scheduler.ncores, callback_timeout=_POLL_SECONDS * 10
            )
        except (OSError, TimeoutError, RuntimeError):
            return 0
        return sum(per_worker.values())

    def _gone(self) -> SweepError:
        return SweepError(
            f"all workers of the scheduler at {self.address} are gone, or the scheduler is; "
            f"{_WHAT_NOW}"
        )


def _checked_compute(
    compute: Callable[[xr.Dataset], xr.Dataset],
    part: xr.Dataset,
    identity: Identity,
) -> xr.Dataset:
    """Compute on a worker, if it has the code and libraries of the process that asks."""
    here = _code_of(compute)
    if here != identity:
        raise SweepError(
            f"a worker has other code or libraries than this job: it has {here[1]}, this job "
            f"{identity[1]}; start workers in the same checkout and environment"
        )
    return compute(part)


def _code_of(compute: Any) -> Identity:
    """Take the digest of the module that computes; of this one for a function from elsewhere."""
    module = getattr(getattr(compute, "func", compute), "__module__", "")
    known = module if module.startswith(f"{ROOT_PACKAGE}.") else __name__
    return code_digest(known), library_versions()
