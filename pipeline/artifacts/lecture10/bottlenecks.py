"""What each resource would take, which one binds, and how that compares with published rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import marks, style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, mean_absolute_error, published, with_published
from pipeline.errors import ModelError
from pipeline.render.column import Column
from pipeline.timing.resources import RESOURCES
from pipeline.words import Say

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

ARTIFACT = Artifact(
    id="bottlenecks",
    lecture=10,
    title="One bottleneck after the other",
    caption=(
        "Predicted time of every kernel on the {gpu_name} at n = {n}: the slowest of {resources} "
        "resources, all others overlapped. From {first_name} to {last_name} the predicted rate "
        "rises from {first:,.0f} to {last:,.0f} GFLOP/s while the binding resource goes {path}. "
        "{comparison}"
    ),
    reading=(
        "Above: time each resource alone would take, the binding one in colour; scales differ. "
        "Below: predicted rate (filled, in the colour of the binding resource) and published rate "
        "(hollow), with published kernels that are not predicted here."
    ),
    needs={"predictions": "predictions", "measured": "measured"},
    parameters=("gpu", "large_n"),
)
# Panels in a row, and their height (inches).
ACROSS, PANEL = 4, 1.5
TIMES = tuple(f"t_{resource.id}" for resource in RESOURCES)
COLUMNS = (
    Column("kernel_name", "kernel"),
    *(
        Column(
            f"t_{resource.id}",
            style.resource_name(resource.id),
            "ms",
            ",.2f",
            units.to_milliseconds,
        )
        for resource in RESOURCES
    ),
    Column("bound", "bound by", convert=style.resource_name),
    Column("predicted_gflops", "predicted", "GFLOP/s", ",.0f"),
    Column("scaled_gflops", "predicted, counts scaled per multiply-add", "GFLOP/s", ",.0f"),
    Column("measured_gflops", "published", "GFLOP/s", ",.1f"),
    Column("ratio", "predicted / published", "", ".2f"),
    Column("scaled_ratio", "scaled / published", "", ".2f"),
)


def table(predictions: xr.Dataset, measured: xr.Dataset, gpu: str, large_n: int) -> pd.DataFrame:
    """Tabulate times and rates of every kernel, then the published rates of others.

    Parameters
    ----------
    predictions : (kernel, gpu, n, method)
        The store of that name.
    measured : (measurement,)
        The store of that name.
    gpu
        GPU id.
    large_n
        Size that times were predicted at.

    Returns
    -------
    Times in s, rates in GFLOP/s, one row per kernel. What is not predicted, or not published, is
    NaN.

    Raises
    ------
    ModelError
        If no kernel can run on the GPU.
    """
    one = predictions.sel(gpu=gpu, n=large_n)
    if not one["gflops"].count():
        raise ModelError(
            f"no block of any kernel fits on an SM of {gpu}, so there is nothing to show; choose "
            f"another GPU for the lecture, or options with fewer registers or less shared memory"
        )
    exact = one[[*TIMES, "bound", "gflops"]].sel({"method": "polynomial"})
    frame = by_kernel(exact).rename(columns={"gflops": "predicted_gflops"})
    scaled = by_kernel(one[["gflops"]].sel({"method": "per_fma"}))
    frame["scaled_gflops"] = scaled["gflops"]
    frame = with_published(frame, measured, large_n)
    others = published(measured, large_n)
    others = others[(others["gpu"] == gpu) & ~others["kernel"].isin(frame["kernel"])]
    frame = pd.concat([frame, others], ignore_index=True)
    frame["ratio"] = frame["predicted_gflops"] / frame["measured_gflops"]
    frame["scaled_ratio"] = frame["scaled_gflops"] / frame["measured_gflops"]
    shown = [column.field for column in COLUMNS]
    return frame[["kernel", *shown]]


def facts(
    predictions: xr.Dataset, measured: xr.Dataset, gpu: str, large_n: int, say: Say
) -> dict[str, float | str]:
    """Say how rates rise, what binds in turn, and how far off the predictions are."""
    frame = table(predictions, measured, gpu, large_n)
    ladder = frame[frame["predicted_gflops"].notna()]
    first, last = ladder.iloc[0], ladder.iloc[-1]
    bounds = [say(style.resource_name(bound)) for bound in ladder["bound"]]
    turns = [name for at, name in enumerate(bounds) if at == 0 or bounds[at - 1] != name]
    return {
        "gpu_name": str(predictions["gpu_name"].sel(gpu=gpu).item()),
        "n": large_n,
        "resources": len(RESOURCES),
        "first_name": first["kernel_name"],
        "last_name": last["kernel_name"],
        "first": first["predicted_gflops"],
        "last": last["predicted_gflops"],
        "path": say("from {path}").format(path=say(" to ").join(turns))
        if len(turns) > 1
        else say("no further than {resource}").format(resource=turns[0]),
        "comparison": _comparison(frame, say),
    }


def _comparison(frame: pd.DataFrame, say: Say) -> str:
    ratios = frame.dropna(subset="ratio").set_index("kernel_name")["ratio"]
    if ratios.empty:
        return say("Nobody has published rates of these kernels on this GPU at this size.")
    return say(
        "Against published rates the predictions are off by {error:.0%} on average, from "
        "{least:.2f} times the rate ({least_name}) to {most:.2f} times ({most_name})."
    ).format(
        error=mean_absolute_error(ratios),
        least=ratios.min(),
        least_name=say(str(ratios.idxmin())),
        most=ratios.max(),
        most_name=say(str(ratios.idxmax())),
    )


def drawn(predictions: xr.Dataset, measured: xr.Dataset, gpu: str, large_n: int) -> pd.DataFrame:
    """Give times (s) and rates (GFLOP/s); arguments as in :func:`table`."""
    columns = ["kernel", "kernel_name", *TIMES, "bound", "predicted_gflops", "measured_gflops"]
    return table(predictions, measured, gpu, large_n)[columns]


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw the times of every kernel as bars above, predicted against published rates below."""
    predicted = frame[frame["predicted_gflops"].notna()]
    above, below = PANEL * -(-len(predicted) // ACROSS) + 0.3, 0.9 + 0.24 * len(frame)
    figure.set_figheight(above + below)
    times, rates = figure.subfigures(2, 1, squeeze=False, height_ratios=[above, below]).flat
    panels = style.panels(times, len(predicted), columns=ACROSS, height=PANEL, sharey=True)
    for axes, (_, kernel) in zip(panels, predicted.iterrows(), strict=True):
        marks.times(axes, kernel, say)
    style.outer_labels(panels, say("time (ms)"), "")
    _draw_rates(rates, frame, say)


def _draw_rates(part: SubFigure, frame: pd.DataFrame, say: Say) -> None:
    """Draw one row per kernel: predicted and published rate, joined by a line."""
    axes = part.subplots()
    frame = frame.assign(kernel_name=frame["kernel_name"].map(say))
    rows = frame["kernel_name"]
    axes.hlines(rows, frame["predicted_gflops"], frame["measured_gflops"], style.PALE, linewidth=2)
    marks.predicted(axes, frame, "predicted_gflops", "kernel_name", marks.bounds(frame), say)
    marks.published(axes, frame, "measured_gflops", "kernel_name", say)
    axes.set(xscale="log", xlabel=say("rate (GFLOP/s)"), yticks=range(len(rows)))
    style.rate_ticks(axes.xaxis)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(True)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
