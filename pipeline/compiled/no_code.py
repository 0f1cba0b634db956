"""The program that stands for one that could not be read."""

from pipeline.compiled.decode import Program
from pipeline.compiled.elf import Facts

_NO_FACTS = Facts(0, 0, 0, 0, 0, 0, ())


def no_code(kernel: str, architecture: str) -> Program:
    """Return a program of that name without instructions."""
    return Program(kernel, architecture, (), _NO_FACTS)
