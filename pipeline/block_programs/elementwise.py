"""Functions of single elements as programs call them; ``tl.math`` is this module."""

from typing import Any

import numpy as np

from pipeline.block_programs import functions
from pipeline.block_programs.block import Block
from pipeline.block_programs.functions import OF_FLOATS
from pipeline.block_programs.shapes import own_axis
from pipeline.block_programs.tensor import to_tensor
from pipeline.errors import UnsupportedError


class PropagateNan:
    """What ``maximum`` and its like do with NaN."""

    NONE = False
    ALL = True


def _float(name: str, x: Any) -> Block:
    return functions.of_floats(OF_FLOATS[name], name, to_tensor(x))


def ceil(x: Any) -> Block:
    """Smallest whole number that is not below."""
    return _float("ceil", x)


def cos(x: Any) -> Block:
    """Cosine."""
    return _float("cos", x)


def erf(x: Any) -> Block:
    """Gauss error function."""
    return _float("erf", x)


def exp(x: Any) -> Block:
    """Exponential."""
    return _float("exp", x)


def exp2(x: Any) -> Block:
    """Two to the power of x."""
    return _float("exp2", x)


def floor(x: Any) -> Block:
    """Largest whole number that is not above."""
    return _float("floor", x)


def log(x: Any) -> Block:
    """Natural logarithm."""
    return _float("log", x)


def log2(x: Any) -> Block:
    """Logarithm to base 2."""
    return _float("log2", x)


def rsqrt(x: Any) -> Block:
    """One over the square root."""
    return _float("rsqrt", x)


def sin(x: Any) -> Block:
    """Sine."""
    return _float("sin", x)


def sqrt(x: Any) -> Block:
    """Square root."""
    return _float("sqrt", x)


def sqrt_rn(x: Any) -> Block:
    """Square root, rounded to nearest."""
    return _float("sqrt_rn", x)


def abs(x: Any) -> Block:
    """Absolute value."""
    return functions.magnitude(to_tensor(x))


def sigmoid(x: Any) -> Block:
    """One over one plus the exponential of the negative."""
    return functions.sigmoid(to_tensor(x))


def softmax(x: Any, dim: int | None = None, *, ieee_rounding: bool = False) -> Block:  # noqa: ARG001
    """Exponentials that sum to one along an axis, the first by default."""
    return functions.softmax(to_tensor(x), own_axis(x, dim or 0))


def fma(x: Any, y: Any, z: Any) -> Block:
    """Product plus ``z``, rounded once."""
    return functions.fma(to_tensor(x), y, z)


def fdiv(x: Any, y: Any, ieee_rounding: bool = False) -> Block:  # noqa: ARG001
    """Quotient of floats; rounded to nearest in any case."""
    return to_tensor(x) / y


def div_rn(x: Any, y: Any) -> Block:
    """Quotient of floats, rounded to nearest."""
    return to_tensor(x) / y


def umulhi(x: Any, y: Any) -> Block:
    """Upper half of the product of two integers, taken as unsigned."""
    return functions.umulhi(to_tensor(x), y)


def cdiv(x: Any, div: Any) -> Any:
    """How many parts of size ``div`` cover ``x``."""
    return functions.ceiling_division(x, div)


def maximum(x: Any, y: Any, propagate_nan: bool = PropagateNan.NONE) -> Block:
    """Larger of two elements."""
    x = x if isinstance(y, Block) else to_tensor(x)
    return functions.extreme(x, y, (np.fmax, np.maximum), propagate_nan, "maximum")


def minimum(x: Any, y: Any, propagate_nan: bool = PropagateNan.NONE) -> Block:
    """Smaller of two elements."""
    x = x if isinstance(y, Block) else to_tensor(x)
    return functions.extreme(x, y, (np.fmin, np.minimum), propagate_nan, "minimum")


def clamp(x: Any, min: Any, max: Any, propagate_nan: bool = PropagateNan.NONE) -> Block:
    """``x`` between two bounds."""
    return functions.clamped(to_tensor(x), min, max, propagate_nan)


def __getattr__(name: str) -> Any:
    """Say by name what is not supported."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnsupportedError(f"tl.math.{name} is not supported here")
