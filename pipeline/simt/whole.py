"""Whole numbers as a launch and its instructions take them."""

import operator
from typing import Any

import numpy as np


def whole(value: Any) -> int:
    """Return an integer of any type as Python's, whose products do not wrap around.

    Raises
    ------
    TypeError
        If it is no integer; a truth value is none.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("a truth value is no number")
    return operator.index(value)
