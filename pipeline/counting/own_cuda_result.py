"""Is what a compiled kernel left in its arrays right? Held against a numpy specification."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.launch import Launch, execute
from pipeline.compiled.reached import LastStore
from pipeline.counting.own_check import compare
from pipeline.counting.own_cuda import CudaArgument, Load, OwnCuda
from pipeline.errors import KernelError

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Worst:
    """The element of an output that is furthest from what it should be."""

    output: CudaArgument
    element: int
    said: str


def expected(own: OwnCuda, before: Arrays, numbers: Mapping[str, Any], load: Load) -> list[Any]:
    """Evaluate the specification: an array for each output, in their order.

    Parameters
    ----------
    own
        Names the specification, whose parameters are names of arguments.
    before
        Arrays as they were before the launch, by name.
    numbers
        The other arguments, by name.
    load
        Gives the function.

    Raises
    ------
    KernelError
        If it gives something else than such arrays.
    """
    function = load(own.specification)
    known = {name: array.copy() for name, array in before.items()} | dict(numbers)
    given = function(**{name: known[name] for name in function.names})
    outputs = own.outputs
    found = list(given) if isinstance(given, tuple) else [given]
    if len(found) != len(outputs):
        raise KernelError(
            f"{own.specification} gives {len(found)} arrays; there are {len(outputs)} outputs: "
            f"{', '.join(one.name for one in outputs)}"
        )
    arrays = [np.asarray(one) for one in found]
    for one, array in zip(outputs, arrays, strict=True):
        if array.shape != one.shape or array.dtype.kind not in "biufV":
            raise KernelError(
                f"{own.specification} gives {array.dtype} of shape {array.shape} for "
                f"{one.name}, which is {one.type} of shape {one.shape}"
            )
    return arrays


def held_against(
    own: OwnCuda, before: Arrays, after: Arrays, wanted: Sequence[NDArray[Any]]
) -> tuple[float, list[Worst]]:
    """Compare outputs with a specification; return the largest difference and what is wrong."""
    largest, worst = 0.0, []
    for one, right in zip(own.outputs, wanted, strict=True):
        found, should = _numbers(after[one.name]), _numbers(right)
        if found.dtype.kind == "f" or should.dtype.kind == "f":
            found, should = found.astype(np.float64), should.astype(np.float64)
        difference, wrong = compare(found, should, own.tolerance)
        largest = max(largest, difference)
        if wrong.any():
            element = _furthest(found, should, wrong)
            index = ", ".join(map(str, np.unravel_index(element, found.shape)))
            unchanged = found.flat[element] == _numbers(before[one.name]).flat[element]
            said = (
                f"wrong result: {one.name}[{index}] is {found.flat[element]:.9g}"
                f"{', as before the launch' if unchanged else ''}, and {own.specification} gives "
                f"{should.flat[element]:.9g} there, which is the worst of "
                f"{np.count_nonzero(wrong)} wrong elements of {wrong.size}"
            )
            worst.append(Worst(one, element, said))
    return largest, worst


def changed(own: OwnCuda, before: Arrays, after: Arrays) -> list[str]:
    """Say which arrays were changed that are no outputs."""
    return [
        f"the kernel changes {one.name}, which is no output; state output: true for it, or mend "
        f"the kernel"
        for one in own.arguments
        if one.name in before
        and not one.output
        and not np.array_equal(before[one.name].view(np.uint8), after[one.name].view(np.uint8))
    ]


def blamed(worst: Worst, launch: Launch, number: int) -> str:
    """Say which thread stored the worst element last; runs the launch again.

    Parameters
    ----------
    worst
        The element.
    launch
        With fresh arrays.
    number
        Of the argument.
    """
    store = LastStore(f"argument {number}", worst.element * worst.output.dtype.itemsize)
    execute(launch, observe=[store.attach])
    return f"{worst.said}; {f'stored last at {store.said}' if store.said else 'nobody stores it'}"


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Give halves of any kind, and truth values, as types that numpy computes with."""
    if array.dtype.kind == "V" or array.dtype == np.float16:
        return array.astype(np.float32)
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def _furthest(found: NDArray[Any], should: NDArray[Any], wrong: NDArray[np.bool_]) -> int:
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(found.astype(np.float64) - should.astype(np.float64))
    apart = np.where(np.isnan(apart), np.inf, apart)
    return int(np.where(wrong, apart, -1.0).argmax())
