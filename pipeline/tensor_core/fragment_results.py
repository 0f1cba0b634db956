"""Fragments of all shapes as one labelled array."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.tensor_core.fragments import coordinates
from pipeline.tensor_core.shapes import MMA_SHAPES, OPERANDS, WGMMA_COLUMNS, Shape, wgmma
from pipeline.vocab.tensor_core import FRAGMENTS
from pipeline.vocab.variable import annotate

AXES = ("row", "column")


def fragments() -> xr.Dataset:
    """Place of every element that a lane holds, for every shape of ``mma`` and ``wgmma``.

    Returns
    -------
    xr.Dataset
        ``coordinate`` over (shape, operand, lane, element, axis), int16. Shapes differ in lanes and
        elements: what an operand does not have is -1, and ``lanes`` and ``elements`` say how many
        there are.
    """
    shapes = [*MMA_SHAPES.values(), *map(wgmma, WGMMA_COLUMNS)]
    held = {
        (shape, operand): coordinates(shape, operand)
        for shape in shapes
        for operand in shape.operands
    }
    elements = [[_elements(held.get((shape, o))) for o in OPERANDS] for shape in shapes]
    most = max(shape.lanes for shape in shapes), max(map(max, elements))
    place = np.full((len(shapes), len(OPERANDS), *most, len(AXES)), -1, np.int16)
    for (shape, operand), found in held.items():
        lanes, count = found.shape[:2]
        place[shapes.index(shape), OPERANDS.index(operand), :lanes, :count] = found
    over = ("shape", "operand", "lane", "element", "axis")
    dataset = xr.Dataset(
        {"coordinate": (over, place), "elements": (over[:2], np.array(elements, np.int64))},
        {
            "shape": [shape.name for shape in shapes],
            "operand": list(OPERANDS),
            "lane": np.arange(most[0]),
            "element": np.arange(most[1]),
            "axis": list(AXES),
            **_facts(shapes),
        },
    )
    return annotate(dataset, FRAGMENTS)


def _elements(held: NDArray[np.int64] | None) -> int:
    return 0 if held is None else held.shape[1]


def _facts(shapes: list[Shape]) -> dict[str, tuple[str, list[int] | list[str]]]:
    return {
        "lanes": ("shape", [shape.lanes for shape in shapes]),
        "element_bits": ("shape", [shape.element_bits for shape in shapes]),
        "types": ("shape", [", ".join(shape.types) for shape in shapes]),
    }
