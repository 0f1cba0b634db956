"""Every error that Paper GPU raises on purpose.

All of them derive from :class:`PaperGpuError`, so that an entry point can show the message alone
and leave the traceback to real bugs. Where Python has a fitting built-in, they derive from it too.
"""

import errno

_REMEDY = {
    errno.ENOSPC: "make room on the disk, then start the run again",
    errno.EDQUOT: "make room on the disk, then start the run again",
    errno.EFBIG: "allow larger files (ulimit -f), then start the run again",
    errno.EROFS: "run in a folder on a disk that takes files",
    errno.EACCES: "give yourself the right to write there",
    errno.EPERM: "give yourself the right to write there",
    errno.EIO: "check the disk",
}
"""What a disk may refuse -> what to do."""


class PaperGpuError(Exception):
    """Root of all errors whose message is written for the user."""


class ConfigError(PaperGpuError, ValueError):
    """A configuration file holds something that is not allowed."""


class DataError(PaperGpuError, ValueError):
    """A data sheet or a table of measurements holds something that is not allowed."""


class VocabularyError(PaperGpuError, ValueError):
    """A dataset holds a variable that the vocabulary does not know, or lacks one it must have."""


class LaunchError(PaperGpuError, ValueError):
    """A kernel cannot be launched this way: its shape, its options or its block do not fit."""


class OptionsError(LaunchError):
    """The options of a kernel contradict each other.

    Attributes
    ----------
    broken
        Every condition that does not hold, in words.
    """

    def __init__(self, message: str, broken: tuple[str, ...]) -> None:
        super().__init__(message)
        self.broken = broken


class OutOfRangeError(PaperGpuError, IndexError):
    """A thread accessed an element outside an array."""


class MisalignedError(PaperGpuError, ValueError):
    """A vector access does not start at a multiple of its width."""


class KernelError(PaperGpuError):
    """A kernel of the user's own does something wrong."""


class UnsupportedError(PaperGpuError, AttributeError):
    """A program uses a feature of its language that is not supported here."""


class ModelError(PaperGpuError, ValueError):
    """A model was asked for something outside the range in which it holds."""


class SweepError(PaperGpuError):
    """A sweep cannot be started, or could not go on."""


class RunError(PaperGpuError):
    """A run, or a job of one, would come between another run and its files."""


class MachineCodeError(PaperGpuError, ValueError):
    """Machine code holds something that is not known, or that does not fit its launch."""


class ToolError(PaperGpuError):
    """A tool of the CUDA toolkit is missing, or refuses its input."""


def refused_by_disk(error: BaseException) -> str:
    """Say what a disk has refused, and what to do; empty for every other error."""
    if not isinstance(error, OSError) or error.errno not in _REMEDY:
        return ""
    said = f"{error.strerror}: {_REMEDY[error.errno]}"
    return f"{error.filename}: {said}" if error.filename else said
