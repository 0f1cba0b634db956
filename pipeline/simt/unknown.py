"""Values that counting without values does not know."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from pipeline.errors import ModelError
from pipeline.simt.source import source


class Unknown(np.ndarray[Any, np.dtype[Any]]):
    """Placeholder for values per thread: one block and one thread stand for all.

    Arithmetic on it gives placeholders again, and so do numpy's functions. An index or a branch
    that depends on one is refused, because what it would count depends on data; so is every way to
    look at the value. Only ``numpy.asarray`` cannot be kept from handing out the zeros behind it.
    """

    wide = False
    __array_priority__ = 2.0

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: DTypeLike) -> "Unknown":
        """Make a placeholder with ``shape`` values per thread."""
        values = np.zeros((1, 1, *shape), dtype)
        return values.view(WideUnknown if values.dtype == np.int64 else cls)

    def __array_wrap__(
        self,
        array: Any,
        context: Any = None,
        return_scalar: bool = False,
    ) -> Any:
        """Keep what arithmetic makes of it unknown, single numbers too."""
        return _hidden(array, type(self))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Keep what numpy's functions make of it unknown."""
        return _hidden(super().__array_function__(func, types, args, kwargs), type(self))

    def __getitem__(self, key: Any) -> Any:
        """Take a part of it, which is unknown too."""
        return _hidden(super().__getitem__(key), type(self))

    def __repr__(self) -> str:
        """Say of what type it is; its value is nobody's business."""
        return f"Unknown({self.dtype}, {self.shape[2:]} per thread)"

    __str__ = __repr__

    def _refuse(self, *_: Any) -> NoReturn:
        raise ModelError(
            f"{source()}: the kernel looks at a value that depends on data, which counting without "
            f"values does not know; simulate this kernel in full"
        )

    __bool__ = __int__ = __float__ = __index__ = _refuse
    item = tolist = _refuse


class WideUnknown(Unknown):
    """An :class:`Unknown` from an int64 array, see :class:`pipeline.simt.wide.Wide`."""

    wide = True
    __array_priority__ = 3.0


def _hidden(value: Any, kind: type[Unknown]) -> Any:
    """Make an array, a number, or each of several of them, unknown."""
    if isinstance(value, (tuple, list)):
        return type(value)(_hidden(one, kind) for one in value)
    return np.asarray(value).view(kind) if isinstance(value, (np.ndarray, np.generic)) else value
