"""The host side of the block language, as ``triton``: what programs import under that name."""

from collections.abc import Callable
from operator import index
from typing import Any

from numpy.typing import NDArray

from pipeline.block_programs import language
from pipeline.block_programs.dtypes import DType
from pipeline.block_programs.jit import JITFunction, jit, unsupported
from pipeline.block_programs.memory import Reinterpreted
from pipeline.block_programs.tuning import Autotuner, Config, autotune, heuristics
from pipeline.errors import LaunchError

__all__ = [
    "Autotuner", "Config", "JITFunction", "autotune", "cdiv", "constexpr_function", "heuristics",
    "jit", "language", "next_power_of_2", "reinterpret", "set_allocator",
]  # fmt: skip


def cdiv(x: int, y: int) -> int:
    """How many parts of size ``y`` cover ``x``.

    >>> cdiv(10, 4)
    3
    """
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """Smallest power of two that is not below ``n``.

    >>> next_power_of_2(5), next_power_of_2(8)
    (8, 8)
    """
    return 1 << max(0, index(n) - 1).bit_length()


def constexpr_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of what is known beforehand: it runs as it is."""
    return fn


def reinterpret(tensor: NDArray[Any], dtype: DType) -> Reinterpreted:
    """Read the bits of an array as another type: of uint16 as bf16, say."""
    return Reinterpreted(tensor, dtype)


def set_allocator(allocator: Callable[..., Any]) -> None:
    """Take what gives descriptors their scratch memory: none is needed here."""
    if not callable(allocator):
        raise LaunchError(f"set_allocator takes a function, not {type(allocator).__name__}")


def __getattr__(name: str) -> Any:
    """Say by name what is not supported."""
    if name.startswith("__") or name == "pytest_plugins":
        raise AttributeError(name)
    unsupported(name)
