"""The looks of all figures: colours, type, and placing of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from pipeline.words import message

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure

# Okabe and Ito's palette: told apart with any common colour blindness, and in print.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
RED = "#D55E00"
PURPLE = "#CC79A7"
SEVEN = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK)
GREY = "#767676"
PALE = "#CFCFCF"

STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    # A dollar sign in a label is a dollar sign.
    "text.parse_math": False,
}

IN_A_CELL: dict[str, Any] = {"ha": "center", "va": "center", "in_layout": False}
"""Of words in the middle of a cell: the layout need not measure them to make room for them."""

# What fits above a figure in one row, and what an entry takes besides its label.
LEGEND_CHARACTERS = 120
ENTRY_CHARACTERS = 6

# Name, colour, and a mark for those who see no colours; the diamond is that of published rates.
_RESOURCES = {
    "fma": (message("FP32"), BLUE, "o"),
    "tensor": (message("tensor"), PURPLE, "P"),
    "issue": (message("issue"), SKY, "s"),
    "l1": (message("L1"), ORANGE, "^"),
    "smem": (message("shared"), RED, "v"),
    "dram": (message("DRAM"), GREEN, "X"),
}
# Of GPUs that stand beside each other in figures; others take what is left.
_GPUS = {
    "rtx_a6000": BLUE,
    "a100_sxm_40gb": RED,
    "h100_sxm": GREEN,
    "rtx_4090": ORANGE,
    "b200": SKY,
}
# Of lines, and of areas that lie side by side.
Dash = str | tuple[int, tuple[int, ...]]
DASHES: tuple[Dash, ...] = ("-", "--", "-.", (0, (3, 1, 1, 1, 1, 1)), (0, (5, 1)), (0, (1, 1)))
HATCHES = ("", "//", "xx", "..", "--", "\\\\", "++")


def resource_name(resource: str) -> str:
    """Short name of a resource, to be said to readers; its id where there is none."""
    return _RESOURCES[resource][0] if resource in _RESOURCES else resource


def resource_colour(resource: str) -> str:
    """Colour of a resource, the same in every figure."""
    return _RESOURCES[resource][1] if resource in _RESOURCES else PURPLE


def resource_marker(resource: str) -> str:
    """Mark of a resource, the same in every figure."""
    return _RESOURCES[resource][2] if resource in _RESOURCES else "o"


def gpu_colour(gpu: str, rank: int) -> str:
    """Colour of a GPU, the same in every figure; ``rank`` chooses that of one without its own."""
    others = [colour for colour in SEVEN if colour not in _GPUS.values()]
    return _GPUS.get(gpu, others[rank % len(others)])


_PIPES = {
    "issue": "issue",
    "fma_heavy": "FP32",
    "fma_lite": "FP32",
    "alu": message("integer"),
    "uniform": message("uniform"),
    "special": message("special"),
    "tensor": "tensor",
    "lsu": message("load/store"),
    "l1_data": message("L1 data"),
    "l1_tags": message("L1 tags"),
    "l2": "L2",
    "dram": "DRAM",
    "none": "",
}


def pipe_name(pipe: str) -> str:
    """Short name of a pipe of an SM as shown to readers; its id where there is none."""
    return _PIPES.get(pipe, pipe)


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Move label positions apart until neighbours are ``gap`` away; the order stays.

    >>> spread([1.0, 1.0, 5.0], 1.0)
    [0.5, 1.5, 5.0]
    """
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    groups: list[tuple[float, list[int]]] = []
    for i in order:
        centre, members = positions[i], [i]
        # A label that touches the group below joins it; together they share the mean place.
        while groups and centre - groups[-1][0] < gap * (len(members) + len(groups[-1][1])) / 2:
            members = groups.pop()[1] + members
            centre = sum(positions[m] for m in members) / len(members)
        groups.append((centre, members))
    placed = [0.0] * len(positions)
    for centre, members in groups:
        for rank, member in enumerate(members):
            placed[member] = centre + gap * (rank - (len(members) - 1) / 2)
    return placed


def tag_at_the_right(
    axes: Axes, names: Sequence[str], x: Sequence[float], y: Sequence[float], gap: float
) -> None:
    """Name marks in a column to the right of the panel, each name joined to its mark.

    Parameters
    ----------
    axes
        Panel with a logarithmic y axis.
    names, x, y
        Of each mark.
    gap
        Distance of neighbouring names (decades of y).
    """
    heights = spread([math.log10(value) for value in y], gap)
    for label, *place, height in zip(names, x, y, heights, strict=True):
        axes.annotate(
            label,
            (place[0], place[1]),
            xytext=(1.03, 10**height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            fontsize=8,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkB": 3},
        )


def panels(
    figure: Figure | SubFigure,
    count: int,
    columns: int,
    height: float,
    sharex: bool = False,
    sharey: bool = False,
) -> list[Axes]:
    """Divide a figure into equal panels, row by row, and set its height.

    Parameters
    ----------
    figure
        Empty figure, or part of one; of a whole figure the height is set.
    count
        Panels wanted.
    columns
        Most panels in one row.
    height
        Height of one row of panels (inches).
    sharex, sharey
        Whether all panels have the same axis.
    """
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    if isinstance(figure, Figure):
        figure.set_figheight(height * rows + 0.5)
    grid = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
    for spare in grid.flat[count:]:
        spare.remove()
    return list(grid.flat[:count])


def outer_labels(panels: Sequence[Axes], xlabel: str, ylabel: str) -> None:
    """Label the axes at the left and at the bottom of a grid of panels."""
    for axes in panels:
        place = axes.get_subplotspec()
        below = [other for other in panels if _is_below(other, axes)]
        if place is not None and place.is_first_col():
            axes.set_ylabel(ylabel)
        if not below:
            axes.set_xlabel(xlabel)
            axes.tick_params(labelbottom=True)


def _is_below(other: Axes, axes: Axes) -> bool:
    one, two = axes.get_subplotspec(), other.get_subplotspec()
    if one is None or two is None:
        return False
    return two.colspan.start == one.colspan.start and two.rowspan.start > one.rowspan.start


def plain_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Put ticks at these values, written as they are, and nowhere else."""
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def spaced(values: Sequence[float], ratio: float) -> list[float]:
    """Leave out values that are less than ``ratio`` times the one before.

    >>> spaced([128, 256, 384, 512, 640], 1.9)
    [128, 256, 512]
    """
    kept: list[float] = []
    for value in values:
        if not kept or value >= ratio * kept[-1]:
            kept.append(value)
    return kept


def rate_ticks(axis: Axis, times: Sequence[float] = (1, 3)) -> None:
    """Put ticks at 1 and 3 times the powers of ten, written out; for a logarithmic axis.

    Parameters
    ----------
    axis
        The axis.
    times
        Multiples of the powers of ten, where they are others.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=times))
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_locator(NullLocator())


def letters(text: str) -> int:
    """Width of a text in Latin letters; those of Chinese are about twice as wide."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def legend_above(figure: Figure | SubFigure, panels: Sequence[Axes], columns: int = 3) -> None:
    """Put one legend above all panels, each label once, in the order of drawing.

    Parameters
    ----------
    figure
        Whole figure, or part of one.
    panels
        Panels whose marks and lines have labels.
    columns
        Most entries in one row; fewer where labels are long.
    """
    handles: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = [fill(label, LEGEND_CHARACTERS - ENTRY_CHARACTERS) for label in handles]
    entry = ENTRY_CHARACTERS + max(map(letters, labels), default=0)
    columns = max(1, min(columns, LEGEND_CHARACTERS // entry))
    figure.legend(handles.values(), labels, loc="outside upper left", ncols=columns)
