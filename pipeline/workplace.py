"""A folder beside a target, for the time of one write: nobody ever sees half of the target."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def workplace(path: Path) -> Iterator[Path]:
    """Give a folder beside ``path`` for the time of one write, and sweep those of killed writes.

    It carries the number of the writing process: a folder is swept when that process is gone.
    """
    prefix, suffix = f".{path.name}.", ".partial"
    for left in path.parent.iterdir():
        if left.name.startswith(prefix) and left.name.endswith(suffix):
            owner = left.name.removeprefix(prefix).split(".")[0]
            if not (owner.isdigit() and _is_running(int(owner))):
                shutil.rmtree(left)
    folder = tempfile.mkdtemp(suffix, f"{prefix}{os.getpid()}.", path.parent)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    """Whether another process has this number; our own old number means a process before us."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
