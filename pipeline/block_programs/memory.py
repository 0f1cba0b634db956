"""Arrays given to a program, as memory that pointers run through."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs.dtypes import DType, of_numpy
from pipeline.errors import LaunchError

SECTOR_BYTES = 32


class Storage:
    """One allocation, whatever views of it are given.

    Attributes
    ----------
    bits : (elements,)
        The memory as unsigned integers of the size of an element.
    tracked
        Whether it is noted who reads: needed where a batch both reads and writes.
    loaded, stored
        Whether the running batch has done so.
    """

    def __init__(self, root: NDArray[Any], itemsize: int) -> None:
        flat = root.reshape(-1, order="A") if root.flags.forc else root.ravel(order="K")
        self.bits = flat.view(np.dtype(f"uint{8 * itemsize}"))
        sectors = self.bits.nbytes // SECTOR_BYTES + 1
        self.stamps = np.full(sectors, -1, np.int64)
        self.tick = 0
        self.tracked = self.loaded = self.stored = False
        self.writer = self.storer = self.reader = np.empty(0, np.int32)

    def ticks(self, rows: int) -> int:
        """Take that many fresh stamps, and return the first."""
        self.tick += rows
        return self.tick - rows

    def note_writers(self) -> None:
        """Begin to note which program wrote an element last."""
        if not len(self.writer):
            self.writer, self.storer = (np.full(len(self.bits), -1, np.int32) for _ in range(2))

    def note_readers(self) -> None:
        """Begin to note the last program in launch order that read an element."""
        self.note_writers()
        if not len(self.reader):
            self.reader = np.full(len(self.bits), -1, np.int32)

    def fresh(self) -> None:
        """Forget what the last batch did."""
        self.loaded = self.stored = False


class Argument:
    """A pointer argument: an array, seen from its first element.

    Attributes
    ----------
    start
        Index of the array's first element in the storage.
    low, high
        Offsets that belong to the array, from ``low`` to below ``high``.
    """

    def __init__(
        self, name: str, dtype: DType, storage: Storage, span: tuple[int, int, int], writable: bool
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.storage = storage
        self.start, self.low, self.high = span
        self.writable = writable


class Reinterpreted:
    """An array whose bits are read as another type; see ``triton.reinterpret``."""

    def __init__(self, base: NDArray[Any], dtype: DType) -> None:
        if base.dtype.itemsize != dtype.itemsize:
            raise LaunchError(
                f"reinterpret: elements of {base.dtype} are not as large as those of {dtype}"
            )
        self.base = base
        self.dtype = dtype


def arguments(arrays: Mapping[str, Any]) -> dict[str, Argument]:
    """Make pointer arguments of arrays; views of one allocation share their storage.

    Raises
    ------
    LaunchError
        If an array holds a type that the language does not have, its strides are no whole elements,
        or it shares memory with an array of another type.
    """
    roots: dict[int, tuple[Storage, DType, str]] = {}
    made = {}
    for name, given in arrays.items():
        array = given.base if isinstance(given, Reinterpreted) else given
        dtype = given.dtype if isinstance(given, Reinterpreted) else of_numpy(array.dtype)
        if dtype is None or not array.dtype.isnative:
            raise LaunchError(f"{name}: arrays of {array.dtype} are not supported here")
        root = _root(array)
        if root.nbytes % dtype.itemsize:
            raise LaunchError(f"{name}: its memory is no whole number of elements; pass a copy")
        if id(root) not in roots:
            roots[id(root)] = (Storage(root, dtype.itemsize), dtype, name)
        storage, held, other = roots[id(root)]
        if held != dtype:
            raise LaunchError(
                f"{name} ({dtype}) and {other} ({held}) share memory, which is supported here only "
                f"for one type; pass a copy of one of them"
            )
        made[name] = Argument(name, dtype, storage, _span(name, array, root), array.flags.writeable)
    return made


def _root(array: NDArray[Any]) -> NDArray[Any]:
    """Give the array that owns the memory, or the outermost that numpy knows."""
    while isinstance(array.base, np.ndarray) and _contiguous(array.base):
        array = array.base
    if not _contiguous(array):
        raise LaunchError("a view whose memory numpy does not know in one piece; pass a copy")
    return array


def _contiguous(array: NDArray[Any]) -> bool:
    order = sorted(range(array.ndim), key=lambda axis: (-array.strides[axis], -array.shape[axis]))
    return array.size == 0 or bool(array.transpose(order).flags.c_contiguous)


def _span(name: str, array: NDArray[Any], root: NDArray[Any]) -> tuple[int, int, int]:
    """Where the first element lies in the root, and which offsets from it the array covers."""
    if array.size == 0:
        return 0, 0, 0
    size = array.itemsize
    first = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    if first % size or any(stride % size for stride in array.strides):
        raise LaunchError(f"{name}: strides {array.strides} are no multiples of {size} bytes")
    reach = [
        (count - 1) * stride // size
        for count, stride in zip(array.shape, array.strides, strict=True)
    ]
    low = sum(step for step in reach if step < 0)
    high = sum(step for step in reach if step > 0)
    return first // size, low, high + 1
