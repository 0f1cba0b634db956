"""Bring what a kernel gives an instruction to numbers of the type that it takes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt.source import source
from pipeline.simt.whole import whole


def numbers(what: str, value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``value`` as an array of ``dtype``.

    Integers that the type does not hold wrap around, as a conversion in C does.

    Parameters
    ----------
    what
        Names the value in messages.
    value
        A number, an array, or anything that numpy makes an array of.

    Raises
    ------
    LaunchError
        If it is no real number, or no number that an integer type could hold.
    """
    if type(value) is np.ndarray and value.dtype == dtype:
        return value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = np.uint64(value % 2**64)
    try:
        given = np.asarray(value)
    except ValueError:
        raise LaunchError(f"{source()}: {what} has rows of different lengths") from None
    if given.dtype.kind not in "biuf":
        raise LaunchError(
            f"{source()}: {what} is of type {_type(value, given)}; allowed are real numbers and "
            f"arrays of them"
        )
    if given.dtype.kind != "f":
        return given.astype(dtype, copy=False)
    if dtype.kind in "iu":
        _refuse_unheld(what, given, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return given.astype(dtype, copy=False)


def _type(value: Any, given: NDArray[Any]) -> str:
    return type(value).__name__ if given.dtype.kind == "O" else str(given.dtype)


def _refuse_unheld(what: str, given: NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Refuse floats whose conversion to an integer type C leaves undefined."""
    info = np.iinfo(dtype)
    # Both ends are powers of two, which floats of any type but halves hold exactly.
    values = given.astype(np.float64, copy=False)
    fits = (values > float(info.min) - 1) & (values < float(int(info.max) + 1))
    fits |= values == float(info.min)
    if not fits.all():
        raise LaunchError(
            f"{source()}: {what} is {values[~fits].flat[0]}, which {dtype} does not hold; allowed "
            f"are {info.min} to {info.max}"
        )


def whole_number(what: str, value: Any) -> int:
    """Return an argument of an instruction that is the same whole number for all threads.

    Raises
    ------
    LaunchError
        If it is none.
    """
    try:
        return whole(value)
    except TypeError:
        raise LaunchError(f"{source()}: {what} is {value!r}, allowed are whole numbers") from None
