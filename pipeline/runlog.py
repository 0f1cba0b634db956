"""The log of one job, and what of it a person at the terminal sees.

A job's log file holds everything the job prints, warnings and tracebacks included. The terminal
shows a mistake of the user's as one message; the traceback of a real bug appears in both places.
"""

import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TextIO

from pipeline import run_lock
from pipeline.errors import PaperGpuError, refused_by_disk

_MISTAKE = "ERROR"


def start(path: str) -> TextIO | None:
    """Send the output of this process to the file ``path``, errors to the terminal as well.

    The redirection is done with file descriptors, so that compiled code and child processes write
    to the log too.

    Returns
    -------
    The terminal, for what moves while a job runs; None where nobody looks on.
    """
    terminal = os.dup(sys.stderr.fileno())
    try:
        _send_to(Path(path))
    except OSError as error:
        sys.exit(f"{_MISTAKE} {refused_by_disk(error) or error}")

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        said = _for_terminal(kind, error, trace)
        os.write(terminal, f"\n{said}\n".encode())
        # The disk may be full.
        with suppress(OSError):
            traceback.print_exception(kind, error, trace)
            if said.startswith(_MISTAKE):
                sys.stderr.write(f"\n{said}\n")

    sys.excepthook = show
    run_lock.join()
    return os.fdopen(os.dup(terminal), "w", encoding="utf-8") if os.isatty(terminal) else None


def _send_to(log: Path) -> None:
    """Send what this process prints to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as opened:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(opened.fileno(), stream.fileno())


def mistakes(folder: str | Path, since: float) -> list[str]:
    """Collect the messages of jobs that ended with a mistake of the user's.

    Parameters
    ----------
    folder
        Where the logs are.
    since
        Logs that were last written before this time (s since 1970) are of earlier runs.

    Returns
    -------
    The messages as they stood on the terminal, in the order of the logs' names.
    """
    written = [
        path for path in sorted(Path(folder).rglob("*.log")) if path.stat().st_mtime >= since
    ]
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in written)
    found = (text.rpartition(f"\n{_MISTAKE} ") for text in texts)
    return [f"{_MISTAKE} {message.strip()}" for _, marked, message in found if marked]


def _for_terminal(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> str:
    """One message for a mistake and for a disk that is full, the whole traceback for a bug."""
    if isinstance(error, PaperGpuError):
        return f"{_MISTAKE} {error}"
    if refused := refused_by_disk(error):
        return f"{_MISTAKE} {refused}"
    return "".join(traceback.format_exception(kind, error, trace))
