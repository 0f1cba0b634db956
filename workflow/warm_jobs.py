"""Scripts of jobs start in forks of a process that has imported their libraries.

One place of Snakemake is built upon, which its pinned version fixes and tests watch: the class of
scripts in Python, whose ``execute_script`` starts one.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from snakemake import script

from pipeline.run_lock import FOLDER
from workflow.endings import afterwards

SWITCH = "PAPER_GPU_WARM"
"""Environment variable: ``off`` starts every job in a new interpreter."""

LIBRARIES = (
    "babel.messages.pofile",
    "dask.array",
    "jinja2",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "ml_dtypes",
    "numba",
    "pandas",
    "pydantic.dataclasses",
    "pydantic.type_adapter",
    "snakemake.io",
    "snakemake.iocontainers",
    "snakemake.logging",
    "tabulate",
    "xarray",
    "yaml",
    "zarr",
)
"""What jobs import of others, but for what only sweeps do, which are few. xarray imports dask.array
as soon as it opens a store, and pydantic its own parts when they are first used."""

FEWEST = 3
"""With fewer jobs ahead, importing everything costs more than it saves."""

# Snakemake says in them how many threads a job may have; libraries read them at import.
_THREADS = ("GOTO", "MKL", "NUMEXPR", "OMP", "OPENBLAS")
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in _THREADS} | {"VECLIB_MAXIMUM_THREADS": "1"}

_HERE = Path(__file__).resolve().parent


class Warm:
    """The server of one run: started by the first job that it is worth it for.

    Parameters
    ----------
    ahead
        Counts the jobs that the run has before it.
    """

    def __init__(self, ahead: Callable[[], int]) -> None:
        self._ahead = ahead
        self._lock = Lock()
        self._server: subprocess.Popen[bytes] | None = None
        # Relative: how long the path of a socket may be is limited, and jobs start in this folder.
        self._address = FOLDER / "warm"

    def address(self) -> Path | None:
        """Path of the socket where a job is asked for; None where jobs start by themselves."""
        with self._lock:
            if self._server is None and self._ahead() >= FEWEST:
                self._start()
            return self._address if self._server else None

    def _start(self) -> None:
        # Without sockets on this disk, or room for another process, jobs start by themselves.
        with suppress(OSError), socket.socket(socket.AF_UNIX) as listener:
            self._address.unlink(missing_ok=True)
            listener.bind(str(self._address))
            # Nobody can connect before it listens.
            self._address.chmod(0o600)
            listener.listen(socket.SOMAXCONN)
            self._server = subprocess.Popen(
                [sys.executable, _HERE / "warm_server.py", str(listener.fileno()), *LIBRARIES],
                env=os.environ | _ONE_THREAD,
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
            )

    def end(self) -> None:
        """End the server, and jobs with it that are at work."""
        if self._server:
            self._server.kill()
            self._server.communicate()
            self._address.unlink(missing_ok=True)


def install(workflow: Any) -> None:
    """Let scripts of this run start warm, until it ends; call it before anything runs."""
    if os.environ.get(SWITCH) == "off" or sys.platform != "linux" or not workflow.is_main_process:
        return
    warm = Warm(lambda: sum(bool(job.rule.script) for job in workflow.dag.needrun_jobs()))

    class WarmScript(script.PythonScript):
        """Asks the server where its fork would be the same as a new interpreter."""

        def execute_script(self, fname: str, edit: bool = False) -> None:
            elsewhere = (self.container_img, self.conda_env, self.env_modules, self.shadow_dir)
            plain = not any((*elsewhere, edit, self.bench_record, self.threads != 1))
            address = warm.address() if plain else None
            if address is None:
                super().execute_script(fname, edit)
            else:
                self._execute_cmd(
                    "{python:q} -I -S {client:q} {address:q} {fname:q}",
                    python=sys.executable,
                    client=str(_HERE / "warm_client.py"),
                    address=str(address),
                    fname=fname,
                    is_python_script=True,
                )

    script.PythonScript = WarmScript
    workflow.execute = afterwards(workflow.execute, warm.end)
