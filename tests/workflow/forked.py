"""Run modules as programs, many times: libraries are imported once, and each run is a fork of that.

Nothing of the project is imported before the fork, so each run reads the package, the Snakefile and
the data as they are then. Started as a program, this reads one request per line and answers each
with the exit code of the run; :func:`run` sends them. Its hash seed is its own: what another
process has made is planned with another seed.
"""

import atexit
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from functools import cache
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    "babel.messages.pofile",
    "dask.array",
    "jinja2",
    "matplotlib.figure",
    "numba",
    "pandas",
    "pydantic",
    "scipy.special",
    "snakemake.api",
    "snakemake.cli",
    "snakemake.report",
    "snakemake.workflow",
    "xarray",
    "yaml",
    "zarr",
)


def run(folder, environment, module, *arguments):
    """Run a module as ``python -m`` does; gives exit code and all that a terminal would show."""
    with tempfile.NamedTemporaryFile() as shown:
        request = {
            "folder": str(folder),
            "environment": environment,
            "module": module,
            "arguments": arguments,
            "shown": shown.name,
        }
        code = _ask(request)
        return code, shown.read().decode()


def plain_environment():
    """Environment of this process, without what is meant for its own Python."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _ask(request):
    server = _server(threading.get_ident())
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, "the process that is forked has ended; what it wrote stands above"
    return int(answer)


@cache
def _server(_thread):
    """Start the process; one for each thread, so that runs at once do not wait for each other."""
    # What libraries keep of a home folder at their import must not be that of whoever runs this.
    home = tempfile.TemporaryDirectory()
    server = subprocess.Popen(
        [sys.executable, __file__],
        env=plain_environment() | {"HOME": home.name},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(_end, server, home)
    return server


def _end(server, home):
    server.communicate()
    home.cleanup()


def _serve():
    for name in LIBRARIES:
        import_module(name)
    # Or every run would copy what the collector touches.
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _be(**json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _be(folder, environment, module, arguments, shown):
    with Path(shown).open("wb") as written, Path(os.devnull).open("rb") as nothing:
        for stream, descriptor in ((nothing, 0), (written, 1), (written, 2)):
            os.dup2(stream.fileno(), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve()
