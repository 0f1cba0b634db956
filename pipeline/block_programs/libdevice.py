"""Functions of CUDA's device library that programs import from ``triton.language.extra``."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes, functions
from pipeline.block_programs.arithmetic import cast, combined
from pipeline.block_programs.block import Block
from pipeline.block_programs.functions import error_function, reciprocal_root
from pipeline.block_programs.tensor import to_tensor
from pipeline.errors import UnsupportedError

Array = NDArray[Any]


def _rounded(values: Array) -> Array:
    """Whole number nearest to each; halves go away from zero."""
    return np.trunc(values + np.copysign(np.asarray(0.5, values.dtype), values))


def _power_of_ten(values: Array) -> Array:
    return np.power(np.asarray(10, values.dtype), values)


_ONE: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh, "cbrt": np.cbrt,
    "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "erf": error_function,
    "erfc": lambda x: 1 - error_function(x), "exp": np.exp, "exp2": np.exp2,
    "exp10": _power_of_ten, "expm1": np.expm1, "fast_expf": np.exp, "fast_logf": np.log,
    "fast_sinf": np.sin, "fast_cosf": np.cos, "floor": np.floor, "log": np.log, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "nearbyint": np.rint, "rint": np.rint,
    "round": _rounded, "rsqrt": reciprocal_root, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt,
    "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
}  # fmt: skip

TWO: dict[str, Callable[..., Array]] = {
    "atan2": np.arctan2, "copysign": np.copysign, "div_rn": np.divide, "fast_dividef": np.divide,
    "fast_powf": np.power, "fmod": np.fmod, "hypot": np.hypot, "pow": np.power,
}  # fmt: skip

_TESTS: dict[str, Callable[[Array], Array]] = {
    "finitef": np.isfinite, "isfinited": np.isfinite, "isinf": np.isinf, "isnan": np.isnan,
    "signbit": np.signbit,
}  # fmt: skip

_WHOLE: dict[str, Callable[[Array], Array]] = {"llrint": np.rint, "llround": _rounded}
"""Functions of one float that give int64."""

NAMES = (*_ONE, *_TESTS, *_WHOLE, *TWO)
"""Functions that are there."""


def __getattr__(name: str) -> Callable[..., Block]:
    """Make the function of that name, or say that it is not supported."""
    if name in _ONE:
        return lambda x: functions.of_floats(_ONE[name], name, to_tensor(x))
    if name in _WHOLE:
        return lambda x: cast(functions.of_floats(_WHOLE[name], name, to_tensor(x)), dtypes.int64)
    if name in _TESTS:
        return lambda x: x.like(_TESTS[name](to_tensor(x).data), dtypes.int1)
    if name in TWO:
        return lambda x, y: combined(TWO[name], to_tensor(x), y, name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnsupportedError(f"libdevice.{name} is not supported here")
