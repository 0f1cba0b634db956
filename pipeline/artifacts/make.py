"""Make the files of one artifact from its module and the datasets it needs."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import xarray as xr

from pipeline.artifacts.style import STYLE
from pipeline.render.figure import render_figure
from pipeline.render.table import render_table


def make_table(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Iterable[str | Path],
) -> None:
    """Write the table of an artifact.

    Parameters
    ----------
    module
        The artifact, as :mod:`pipeline.artifacts.artifact` describes it.
    datasets
        By the keys of the artifact's ``needs``.
    parameters
        By the names in the artifact's ``parameters``.
    outputs
        Paths that end in csv, md, html or tex.
    """
    arguments = {**datasets, **parameters}
    legend = module.ARTIFACT.table_legend(_call(module.facts, arguments))
    render_table(_call(module.table, arguments), module.COLUMNS, legend, outputs)


def make_figure(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Iterable[str | Path],
) -> None:
    """Write the figure of an artifact; arguments as in :func:`make_table`.

    Parameters
    ----------
    module, datasets, parameters
        As in :func:`make_table`.
    outputs
        Paths that end in svg, png or csv.
    """
    arguments = {**datasets, **parameters}
    legend = module.ARTIFACT.figure_legend(_call(module.facts, arguments))
    render_figure(_call(module.drawn, arguments), module.draw, legend, STYLE, outputs)


def _call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with those arguments that it names."""
    return function(**{name: arguments[name] for name in inspect.signature(function).parameters})
