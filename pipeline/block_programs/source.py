"""Which line of a program runs now, and errors that name it."""

import sys
from pathlib import PurePath

from pipeline.errors import KernelError

_HERE = PurePath(__file__).parent


def source() -> str:
    """Return file name and line of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back and PurePath(frame.f_code.co_filename).parent == _HERE:
        frame = frame.f_back
    return f"{PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}"


def refusal(message: str) -> KernelError:
    """Make the error for what Triton would refuse too, with the line of the program."""
    return KernelError(f"{source()}: {message}")
