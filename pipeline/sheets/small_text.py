"""Files that people write, as text: they are small, and UTF-8."""

import stat
from pathlib import Path

MOST_BYTES = 1_000_000
"""A hundred times the largest file of the project's own. Reading stays a matter of seconds."""


def read(path: Path) -> str:
    """Read the text of a file, without the mark that some editors put at its begin.

    Raises
    ------
    ValueError
        If it cannot be read, is too large, or not UTF-8; says which, and not of which file.
    """
    held = read_bytes(path)
    try:
        return held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = held.count(b"\n", 0, error.start) + 1
        raise ValueError(f"is not UTF-8 text (line {line}); save it as UTF-8") from None


def read_bytes(path: Path) -> bytes:
    """Read a file.

    Raises
    ------
    ValueError
        If it cannot be read or is too large.
    """
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise ValueError("cannot be read (Is a directory)")
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("cannot be read (it is a device, not a file)")
        if found.st_size > MOST_BYTES:
            raise ValueError(
                f"is {found.st_size / 1e6:.1f} MB large; at most {MOST_BYTES / 1e6:.0f} MB are "
                f"read: is it the right file?"
            )
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror})") from None
