"""Which line of a program runs now, and errors that name it."""

import sys
from itertools import pairwise
from pathlib import PurePath
from traceback import walk_tb
from types import CodeType

from pipeline.errors import KernelError, PaperGpuError, UnsupportedError

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


def stopped(error: Exception, enter: CodeType) -> PaperGpuError:
    """Make the error that a user sees of one that stopped a program.

    Parameters
    ----------
    error
        What was raised. Of Python's own errors the kind is named; what is raised here on purpose
        names its line already, except a feature that is not supported.
    enter
        Code that calls programs: the frame after it is a program's.
    """
    if isinstance(error, PaperGpuError) and not isinstance(error, UnsupportedError):
        return error
    frames = list(walk_tb(error.__traceback__))
    lines = [
        f"{PurePath(frame.f_code.co_filename).name}:{line}: "
        for (caller, _), (frame, line) in pairwise(frames)
        if caller.f_code is enter
    ]
    place = lines[-1] if lines else ""
    if isinstance(error, UnsupportedError):
        return UnsupportedError(f"{place}{error}")
    return KernelError(f"{place}{type(error).__name__}: {error}")
