"""Pictures of the tiles of C: which of them a wave computes, in which order, and what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.artifacts import style
from pipeline.words import Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Cells between C and the strips beside it, and their width, as shares of the tiles of C.
GAP, STRIP = 0.03, 0.07
BLUES = ("#9CC9E8", "#7DB8E0", "#5AA3D3", "#3A8CC4", "#1F74B0", "#0B5C95")
EMPTY = "#F1F1F1"
A_COLOUR, B_COLOUR = style.ORANGE, style.GREEN
# Widest line between cells, and what lines of many cells take of them together (points).
WIDEST_LINE, ALL_LINES = 0.6, 16


def draw_wave(axes: Axes, order: str, wave: pd.DataFrame, say: Say) -> None:
    """Draw the tiles of C, those of a wave in blue, and what they read beside them.

    Parameters
    ----------
    axes
        Where to draw.
    order
        Name of the order, for the title.
    wave
        ``tile_row`` and ``tile_col`` of its tiles in their order, and ``tile_rows`` and
        ``tile_cols``, the tiles of C each way.
    say
        Language of the title.
    """
    rows, cols = (int(wave[name].iloc[0]) for name in ("tile_rows", "tile_cols"))
    row, col = (wave[name].to_numpy().astype(int) for name in ("tile_row", "tile_col"))
    left, top = -(GAP + STRIP) * cols, -(GAP + STRIP) * rows
    line = min(WIDEST_LINE, ALL_LINES / max(rows, cols))
    _draw_cells(axes, (0, 0), (cols, rows), (cols, rows), line)
    shade = np.arange(len(row)) * len(BLUES) // len(row)
    for rank, blue in enumerate(BLUES):
        here = shade == rank
        _fill(axes, col[here], row[here], (1, 1), blue, line)
    _draw_cells(axes, (left, 0), (STRIP * cols, rows), (1, rows), line)
    read = np.unique(row)
    _fill(axes, np.full(len(read), left), read, (STRIP * cols, 1), A_COLOUR, line)
    _draw_cells(axes, (0, top), (cols, STRIP * rows), (cols, 1), line)
    read = np.unique(col)
    _fill(axes, read, np.full(len(read), top), (1, STRIP * rows), B_COLOUR, line)
    axes.plot(col + 0.5, row + 0.5, color=style.BLACK, linewidth=0.5)
    read_of_both = say("{rows:,} rows + {cols:,} columns").format(
        rows=len(np.unique(row)), cols=len(np.unique(col))
    )
    axes.set_title(f"{order}\n{read_of_both}")
    axes.set(xlim=(left, cols), ylim=(rows, top), xticks=[], yticks=[], aspect=cols / rows)
    axes.set_axis_off()


def _draw_cells(
    axes: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    cells: tuple[int, int],
    line: float,
) -> None:
    """Draw a rectangle of empty cells: so many along x and y."""
    from matplotlib.patches import Rectangle

    (x, y), (width, height) = corner, size
    axes.add_patch(Rectangle(corner, width, height, facecolor=EMPTY))
    across, down = (np.linspace(0, size[axis], cells[axis] + 1) for axis in (0, 1))
    axes.vlines(x + across, y, y + height, "white", linewidth=line)
    axes.hlines(y + down, x, x + width, "white", linewidth=line)


def _fill(
    axes: Axes,
    x: NDArray[Any],
    y: NDArray[Any],
    size: tuple[float, float],
    colour: str,
    line: float,
) -> None:
    """Fill cells whose first corners are given, all in one path: a path each would be large."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    around = np.array([(0, 0), (0, 1), (1, 1), (1, 0), (0, 0)]) * size
    corners = np.stack([x, y], axis=-1)[:, None] + around
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(x)
    cells = Path(corners.reshape(-1, 2), codes)
    axes.add_patch(PathPatch(cells, facecolor=colour, edgecolor="white", linewidth=line))


def draw_key(figure: Figure | SubFigure, place: tuple[float, float], say: Say) -> None:
    """Say what the colours are, around a place (shares of the figure)."""
    from matplotlib.patches import Patch

    marks = (
        (BLUES[3], say("tiles of C\nin the first wave")),
        (A_COLOUR, say("rows of A\nthat it reads")),
        (B_COLOUR, say("columns of B\nthat it reads")),
    )
    handles = [Patch(color=colour, label=label) for colour, label in marks]
    figure.legend(handles=handles, loc="center", bbox_to_anchor=place, labelspacing=1.2)
