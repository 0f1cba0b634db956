"""Values that counting without values does not know."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike


class Unknown(np.ndarray[Any, np.dtype[Any]]):
    """Placeholder for values per thread: one block and one thread stand for all.

    Arithmetic on it gives placeholders again. An index or a branch that depends on one is refused,
    because what it would count depends on data.
    """

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: DTypeLike) -> "Unknown":
        """Make a placeholder with ``shape`` values per thread."""
        return np.zeros((1, 1, *shape), dtype).view(cls)
