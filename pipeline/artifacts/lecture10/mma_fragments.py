"""Which lane holds which element of A, B and C in one tensor-core instruction: a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

ARTIFACT = Artifact(
    id="mma_fragments",
    lecture=10,
    title="Fragments of {shape}",
    caption=(
        "Which of the {lanes} lanes holds which element of A ({m} x {k}), B ({k} x {n}) and C or D "
        "({m} x {n}) in one {shape} instruction. A lane holds {elements_a} elements of A, "
        "{elements_b} of B and {elements_c} sums. For its sums lane {example} needs {needed} "
        "elements of A and B, of which it holds {brought}: the instruction brings it the others."
    ),
    reading=(
        "Numbers are lanes. A box is two elements side by side, or in B one below the other; above "
        "stands which of the lane's elements they are. Equal colours of A and B meet along K. "
        "Framed is what lane {example} holds."
    ),
    needs={"fragments": "tensor_core/fragments"},
)
SHAPE = "m16n8k16"
EXAMPLE_LANE = 5
GROUP = 4
TOGETHER = 2
PIECE = 8
COLOURS = (style.SKY, style.YELLOW, style.ORANGE, style.PURPLE)
TITLES = {"A": "A", "B": "B", "C": message("C and D")}
AXES = {
    "A": (message("column, along K (1)"), message("row (1)")),
    "B": (message("column (1)"), message("row, along K (1)")),
    "C": (message("column (1)"), message("row (1)")),
}
LANE_POINTS = 10.5
# Room above each piece for its name, and between pieces side by side, in elements.
ABOVE = 1.1
BESIDE = 0.4
TICK_STEP = 4
INCHES = 7.8


def drawn(fragments: xr.Dataset) -> pd.DataFrame:
    """Give the place of every element that a lane holds, for one shape.

    Parameters
    ----------
    fragments : (shape, operand, lane, element, axis)
        The store of that name.
    """
    one = fragments["coordinate"].sel(shape=SHAPE).reset_coords(drop=True)
    place = one.to_dataset(dim="axis").to_dataframe()
    held = place[place["row"] >= 0].astype(int).reset_index()
    return held[["operand", "lane", "element", "row", "column"]]


def facts(fragments: xr.Dataset) -> dict[str, int | str]:
    """Sizes of the instruction, and what a lane needs for its sums against what it holds."""
    frame = drawn(fragments)
    a, b, c = (frame[frame["operand"] == operand] for operand in "ABC")
    m, k = (int(a[axis].max()) + 1 for axis in ("row", "column"))
    sums = c[c["lane"] == EXAMPLE_LANE]
    needed = a[a["row"].isin(sums["row"])], b[b["column"].isin(sums["column"])]
    return {
        "shape": SHAPE,
        "lanes": frame["lane"].nunique(),
        "m": m,
        "n": int(c["column"].max()) + 1,
        "k": k,
        "elements_a": len(a) // frame["lane"].nunique(),
        "elements_b": len(b) // frame["lane"].nunique(),
        "elements_c": len(sums),
        "needed": sum(map(len, needed)),
        "brought": sum(int((part["lane"] == EXAMPLE_LANE).sum()) for part in needed),
        "example": EXAMPLE_LANE,
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw A, with B above C beside it, as in a product; boxes hold the number of their lane."""
    figure.set_figheight(INCHES)
    operands = {str(operand): held for operand, held in frame.groupby("operand")}
    columns = [operands[operand]["column"].max() + 1 for operand in "AB"]
    rows = [operands[operand]["row"].max() + 1 for operand in "BA"]
    grid = figure.add_gridspec(2, 2, width_ratios=columns, height_ratios=rows)
    for operand, (row, column) in {"A": (1, 0), "B": (0, 1), "C": (1, 1)}.items():
        axes = figure.add_subplot(grid[row, column])
        for box in _boxes(operands[operand]):
            _draw_box(axes, box, operand)
        _number(axes, operands[operand], operand, say)
    corner = figure.add_subplot(grid[0, 0])
    corner.set(xticks=[], yticks=[])
    corner.spines[:].set_visible(False)
    key = corner.legend(handles=_meanings(say), loc="center", fontsize=11, title_fontsize=11)
    title = say("A number is a lane. a0, a1:\nthe first two elements of A\nthat the lane holds.")
    key.set_title(title)
    # Chinese signs fill their lines from top to bottom.
    key.get_title().set_linespacing(1.4)
    key.set_alignment("left")


def _meanings(say: Say) -> list[Patch]:
    """Say what colours and the frame mean."""
    from matplotlib.patches import Patch

    colours = [
        Patch(
            facecolor=colour,
            label=say("lanes {first}, {second}, {third}, ...").format(
                first=first, second=first + GROUP, third=first + 2 * GROUP
            ),
        )
        for first, colour in enumerate(COLOURS)
    ]
    framed = Patch(facecolor="none", edgecolor=style.BLACK, linewidth=2.2)
    framed.set_label(say("all that lane {lane} holds").format(lane=EXAMPLE_LANE))
    return [*colours, framed]


class Box(NamedTuple):
    """Two elements of a lane: its number, the first of them, and edges on paper."""

    lane: int
    first: int
    left: float
    top: float
    wide: float
    high: float


def _boxes(held: pd.DataFrame) -> Iterator[Box]:
    """Place the boxes of one operand."""
    first = held["element"] // TOGETHER * TOGETHER
    ends = held.groupby([held["lane"], first.rename("first")])[["column", "row"]].agg(
        ["min", "max"]
    )
    for (lane, element), *edges in ends.itertuples():
        left, right, top, bottom = edges
        x, y = _across(left), _down(top)
        yield Box(lane, element, x, y, _across(right) + 1 - x, _down(bottom) + 1 - y)


def _draw_box(axes: Axes, box: Box, operand: str) -> None:
    """Draw one box, and the name of its elements above the first of its kind."""
    from matplotlib.patches import Rectangle

    framed = box.lane == EXAMPLE_LANE
    axes.add_patch(
        Rectangle(
            (box.left, box.top),
            box.wide,
            box.high,
            facecolor=COLOURS[box.lane % GROUP],
            edgecolor=style.BLACK if framed else "white",
            linewidth=2.2 if framed else 0.8,
            zorder=3 if framed else 2,
        )
    )
    axes.text(
        box.left + box.wide / 2,
        box.top + box.high / 2,
        f"{box.lane}",
        fontsize=LANE_POINTS,
        weight="bold" if framed else "normal",
        zorder=4,
        **style.IN_A_CELL,
    )
    if box.lane == 0:
        letter = operand.lower()
        name = f"{letter}{box.first}, {letter}{box.first + 1}"
        axes.text(box.left + PIECE / 2, box.top - ABOVE / 2, name, fontsize=9, **style.IN_A_CELL)


def _number(axes: Axes, held: pd.DataFrame, operand: str, say: Say) -> None:
    """Write numbers of rows and columns, and the name of the matrix."""
    most = {axis: int(held[axis].max()) for axis in ("row", "column")}
    axes.set(
        xlim=(-0.1, _across(most["column"]) + 1.1),
        ylim=(_down(most["row"]) + 1.1, 0),
        title=say(TITLES[operand]),
        xlabel=say(AXES[operand][0]),
        ylabel=say(AXES[operand][1]),
    )
    for axis, name, place in ((axes.xaxis, "column", _across), (axes.yaxis, "row", _down)):
        shown = [*range(0, most[name], TICK_STEP), most[name]]
        axis.set_ticks([place(number) + 0.5 for number in shown], [f"{n}" for n in shown])
        axis.set_tick_params(length=0)
    axes.spines[:].set_visible(False)


def _across(column: int) -> float:
    """Left edge of a column, with the room between pieces."""
    return column + BESIDE * (column // PIECE)


def _down(row: int) -> float:
    """Upper edge of a row, with the room above pieces."""
    return row + ABOVE * (row // PIECE + 1)
