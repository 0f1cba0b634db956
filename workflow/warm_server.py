"""Import libraries once, then be a job again and again: each job is a fork of this process.

Started by :mod:`workflow.warm_jobs` as a program, with an open socket and names of libraries. Each
connection to the socket is one job, which :mod:`workflow.warm_client` asks for. Nothing of the
project is imported here: a job reads the package as it is then.

Jobs end with this process, this process with the one that started it, and a job with the client
that asked for it, however they end.
"""

import atexit
import ctypes
import gc
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

STARTED = b"started "
"""What a client reads first. From then on the job must not be run again."""

_LENGTH = 8
_STREAMS = (0, 1, 2)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG in linux/prctl.h


def prepare(libraries: list[str]) -> None:
    """Import libraries, and let numba read what it knows of its own types, which takes as long."""
    # Nothing that is made here is garbage later.
    gc.disable()
    for name in libraries:
        import_module(name)
    if "numba" in libraries:
        import_module("numba").njit("int64(int64)")(_same)
    gc.freeze()
    gc.enable()


def _same(x: int) -> int:
    return x


class Server:
    """Jobs at work, and who waits for them.

    Parameters
    ----------
    listener
        Where clients connect.
    lifeline
        Descriptor of a pipe whose other end nobody holds but the process that started this one.
    """

    def __init__(self, listener: socket.socket, lifeline: int) -> None:
        self._listener, self._lifeline = listener, lifeline
        # By descriptor of the job's process: its number, and the connection of its client.
        self._jobs: dict[int, tuple[int, int]] = {}
        self._poll = select.poll()
        self._poll.register(listener, select.POLLIN)
        self._poll.register(lifeline, 0)

    def serve(self) -> tuple[int, int]:
        """Start jobs until the end.

        Returns
        -------
        tuple of int
            Only in a job: the connection of its client, and the number of the server's process.
        """
        server = os.getpid()
        while True:
            # One at a time: what is done for the first may close what the second is about.
            descriptor, _ = self._poll.poll()[0]
            if descriptor == self._lifeline:
                os._exit(0)
            elif descriptor in self._jobs:
                self._finish(descriptor)
            elif descriptor != self._listener.fileno():
                self._kill(descriptor)
            elif connection := self._start():
                return connection, server

    def _start(self) -> int:
        """Fork for a client; gives its connection in the job, and 0 in the server."""
        connection = self._listener.accept()[0].detach()
        # With threads a fork is not safe. Then, and where there cannot be another process, the
        # client reads nothing, and runs the job itself.
        job = None
        if len(list(Path("/proc/self/task").iterdir())) == 1:
            with suppress(OSError):
                job = os.fork()
        if job is None:
            os.close(connection)
            return 0
        if not job:
            self._leave()
            return connection
        process = os.pidfd_open(job)
        self._jobs[process] = job, connection
        self._poll.register(process, select.POLLIN)
        # A client that dies is told of without being asked for.
        self._poll.register(connection, 0)
        return 0

    def _leave(self) -> None:
        """Keep nothing of the server in a job."""
        for process, (_, connection) in self._jobs.items():
            os.close(process)
            os.close(connection)
        self._listener.close()

    def _kill(self, connection: int) -> None:
        """End the job whose client is gone."""
        self._poll.unregister(connection)
        for process, (_, client) in self._jobs.items():
            if client == connection:
                signal.pidfd_send_signal(process, signal.SIGKILL)

    def _finish(self, process: int) -> None:
        """Tell the client how its job has ended."""
        job, connection = self._jobs.pop(process)
        _, status = os.waitpid(job, 0)
        self._poll.unregister(process)
        with suppress(KeyError):
            self._poll.unregister(connection)
        with suppress(OSError):
            os.write(connection, b"%d" % os.waitstatus_to_exitcode(status))
        os.close(process)
        os.close(connection)


def receive(connection: int, server: int) -> str:
    """Become the process that a client asks for, in all that a shell would have given it.

    Parameters
    ----------
    connection
        To the client. It is left open: while the job lives the client does not read the end.
    server
        Number of the process that forked this one.

    Returns
    -------
    str
        Path of the script to run.
    """
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    # It may have been too late for that.
    if os.getppid() != server:
        os._exit(1)
    client = socket.socket(fileno=connection)
    length, streams, _, _ = socket.recv_fds(client, _LENGTH, len(_STREAMS), socket.MSG_WAITALL)
    asked = client.recv(int.from_bytes(length), socket.MSG_WAITALL)
    if len(streams) < len(_STREAMS) or len(asked) < int.from_bytes(length):
        os._exit(1)
    for given, stream in zip(streams, _STREAMS, strict=True):
        os.dup2(given, stream)
        os.close(given)
    folder, script, *environment = asked.split(b"\0")
    os.chdir(folder)
    os.environ.clear()
    for name, _, value in (pair.partition(b"=") for pair in environment):
        os.environb[name] = value
    client.sendall(STARTED)
    client.detach()
    return os.fsdecode(script)


def run(script: str) -> int:
    """Run a script as ``python script`` does.

    Returns
    -------
    int
        The exit code, or the negative number of the signal to end with.
    """
    # The name that top shows; all jobs have the command line of the server.
    Path("/proc/self/comm").write_text(Path(script).stem.rpartition(".")[2], encoding="utf-8")
    sys.argv[:] = [script]
    sys.orig_argv[:] = [sys.executable, script]
    sys.path[0] = str(Path(script).resolve().parent)
    main = ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    try:
        exec(compile(Path(script).read_bytes(), script, "exec"), vars(main))
    except SystemExit as end:
        return _exit_code(end.code)
    except BaseException as error:
        # Without the line above.
        trace = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _exit_code(given: object) -> int:
    """Exit code of ``sys.exit(given)``."""
    if given is None or isinstance(given, int):
        return (given or 0) & 0xFF
    sys.stderr.write(f"{given}\n")
    return 1


def leave(code: int) -> NoReturn:
    """End a job as Python does, but for the work that it has to take itself apart.

    Parameters
    ----------
    code
        As :func:`run` gives it.
    """
    # Python's own steps, which have no public name; so does multiprocessing.
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        # As Python says that output is lost.
        with suppress(OSError, ValueError):
            kind = type(error).__name__
            sys.stderr.write(f"Exception ignored in: {sys.stdout!r}\n{kind}: {error}\n")
        code = min(code, 0) or 120
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def main() -> None:
    """Serve; in a job, be that job."""
    # Jobs are told themselves when somebody interrupts the run.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(fileno=int(sys.argv[1]))
    prepare(sys.argv[2:])
    connection, server = Server(listener, 0).serve()
    signal.signal(signal.SIGINT, interrupted)
    leave(run(receive(connection, server)))


if __name__ == "__main__":
    main()
