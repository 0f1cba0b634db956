"""What a page shows of artifacts, claims and GPUs, in one language."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr
from markupsafe import Markup

from pipeline import units
from pipeline.artifacts.style import resource_name
from pipeline.site.material import Material
from pipeline.site.svg import Shapes, inline
from pipeline.site.tables import rows_of, table_of
from pipeline.vocab.gpus import GPUS
from pipeline.vocab.sweeps import RULES
from pipeline.words import Say

LONG_TABLE = 16
"""Rows beyond which a table scrolls in a box of its own."""

_OWN_COORDINATES = ("gpu", "gpu_name", "compute_capability")


@dataclass(frozen=True)
class ArtifactView:
    """One artifact in a page.

    Attributes
    ----------
    id, title, caption, reading, alt
        As the artifact's job wrote them.
    figure, table
        Parts of the page; None where the artifact has none.
    long
        Whether the table scrolls in a box of its own.
    claims
        What is claimed beside it.
    parameters
        Settings and the values used.
    gpu
        GPU that it singles out; empty if none.
    stores
        Paths of the zarr stores that hold the numbers.
    downloads
        Names of files below the folder of downloads.
    """

    id: str
    title: str
    caption: str
    reading: str
    alt: str
    figure: Markup | None
    table: Markup | None
    long: bool
    claims: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, str]
    gpu: str
    stores: Sequence[str]
    downloads: Sequence[str]


def artifact_view(
    material: Material, language: str, shapes: Shapes, claims: Iterable[Mapping[str, Any]]
) -> ArtifactView:
    """Put an artifact together for a page.

    Parameters
    ----------
    material
        Its files.
    language
        Of the page.
    shapes
        Shapes of the pictures of the page.
    claims
        Claims of its lecture, in one language, as :func:`claim_views` gives them.
    """
    words = material.words["words"][language]
    figure = material.text("figures", language, ".svg")
    page = material.text("tables", language, ".html")
    table = None if page is None else table_of(page, f"{material.id}-title")
    return ArtifactView(
        id=material.id,
        title=words["title"],
        caption=words["caption"],
        reading=words["reading"],
        alt=words["alt"],
        figure=None if figure is None else inline(figure, material.id, words["alt"], shapes),
        table=table,
        long=table is not None and rows_of(table) > LONG_TABLE,
        claims=[claim for claim in claims if material.id in claim["artifacts"]],
        parameters={name: _shown(value) for name, value in material.words["parameters"].items()},
        gpu=str(material.words["parameters"].get("gpu", "")),
        stores=[
            f"results/{store}.zarr" for store in dict.fromkeys(material.words["needs"].values())
        ],
        downloads=sorted(material.downloads(language)),
    )


def _shown(value: Any) -> str:
    """Write the value of a setting as in the configuration."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_shown(held)}" for name, held in value.items())
    return str(value)


def claim_views(claims: Mapping[str, Any], language: str, say: Say) -> list[dict[str, Any]]:
    """Take the claims in one language, with their bounds in words.

    Parameters
    ----------
    claims
        As ``results/claims.json`` holds them.
    language, say
        Of the page.
    """
    return [
        claim
        | {
            "statement": claim["statement"][language],
            "reason": claim["reason"][language],
            "measures": [_measure(one, say) for one in claim["measures"]],
        }
        for claim in claims["claims"]
    ]


def _measure(measure: Mapping[str, Any], say: Say) -> str:
    value, lower, upper = (measure[key] for key in ("value", "lower", "upper"))
    if lower is not None and lower == upper:
        words = say("{name} = {value}; it must be {lower}")
    elif lower is None:
        words = say("{name} = {value}; at most {upper}")
    elif upper is None:
        words = say("{name} = {value}; at least {lower}")
    else:
        words = say("{name} = {value}; between {lower} and {upper}")
    numbers = {
        key: "" if number is None else f"{number:,.6g}"
        for key, number in (("value", value), ("lower", lower), ("upper", upper))
    }
    return words.format(name=measure["name"], **numbers)


@dataclass(frozen=True)
class Figure:
    """One figure of a GPU: what it means, its value with the unit, and where it comes from."""

    meaning: str
    value: str
    source: str


@dataclass(frozen=True)
class GpuView:
    """One GPU in a page; it has no figure of what is not known of it."""

    id: str
    name: str
    capability: str
    figures: Sequence[Figure]


def gpu_views(gpus: xr.Dataset, say: Say) -> list[GpuView]:
    """List the GPUs with every figure of their sheets, its unit and where it comes from.

    Parameters
    ----------
    gpus : (gpu)
        The store ``gpus``.
    say
        Of the page.
    """
    names = [name for name in GPUS if name in gpus and name not in _OWN_COORDINATES]
    values = {str(name): held.to_numpy().tolist() for name, held in gpus.variables.items()}
    return [
        GpuView(
            id=one,
            name=values["gpu_name"][place],
            capability=values["compute_capability"][place],
            figures=[
                Figure(
                    say(GPUS[name].long_name),
                    _quantity(values[name][place], GPUS[name].units),
                    str(gpus[name].attrs.get(f"source_{one}", "")),
                )
                for name in names
                if not math.isnan(values[name][place])
            ],
        )
        for place, one in enumerate(values["gpu"])
    ]


def side_by_side(gpus: Sequence[GpuView]) -> list[tuple[str, list[str]]]:
    """Give the value of every figure on every GPU, nothing where it is not known."""
    values = [{figure.meaning: figure.value for figure in gpu.figures} for gpu in gpus]
    meanings = dict.fromkeys(meaning for held in values for meaning in held)
    return [(meaning, [held.get(meaning, "") for held in values]) for meaning in meanings]


def _quantity(value: float, unit: str) -> str:
    """Write a figure in the unit that a reader wants.

    >>> _quantity(1.59e9, "Hz"), _quantity(65536, "byte"), _quantity(65536, "1")
    ('1.59 GHz', '64 KiB', '65,536')
    """
    if unit == "byte" and units.to_mebibytes(value) >= 1:
        return f"{units.to_mebibytes(value):,.6g} MiB"
    if unit == "byte" and units.to_kibibytes(value) < 1:
        return f"{value:,.6g} B"
    convert, shown = _UNITS.get(unit, (float, unit))
    return f"{convert(value):,.6g} {shown}".strip()


_UNITS: Mapping[str, tuple[Callable[[float], float], str]] = {
    "1": (float, ""),
    "byte": (units.to_kibibytes, "KiB"),
    "byte/s": (units.to_giga, "GB/s"),
    "FLOP/s": (units.to_tera, "TFLOP/s"),
    "Hz": (units.to_giga, "GHz"),
    "s": (units.to_microseconds, "µs"),
}


@dataclass(frozen=True)
class ExplorerView:
    """Words of the explorers, and what is shown of the timelines without a script.

    Attributes
    ----------
    rules
        Rule that excludes a tile -> its sentence.
    names
        Resource or execution as the data have it -> its name.
    executions
        Names of the executions.
    shortest
        (GPU, shortest time (ms) of each execution).
    """

    rules: Mapping[str, str]
    names: Mapping[str, str]
    executions: Sequence[str]
    shortest: Sequence[tuple[str, Sequence[str]]]


def explorer_view(tiles: xr.Dataset, timelines: xr.Dataset, say: Say) -> ExplorerView:
    """Put the words of the explorers together.

    Parameters
    ----------
    tiles, timelines
        The sweeps ``sweeps/tiles`` and ``sweeps/timeline``.
    say
        Of the page.
    """
    bounds = {resource_name(one) for one in set(tiles["bound"].to_numpy().ravel().tolist())}
    labels = [str(label) for label in timelines["execution_label"].to_numpy()]
    over = [dim for dim in timelines["t"].dims if dim not in ("gpu", "execution")]
    least = timelines["t"].min(over).transpose("gpu", "execution").to_numpy()
    gpus = timelines["gpu_name"].to_numpy()
    return ExplorerView(
        rules={rule: say(sentence) for rule, sentence in RULES.items()},
        names={name: say(name) for name in (*sorted(bounds), *labels)},
        executions=[say(label) for label in labels],
        shortest=[
            (str(gpu), [f"{units.to_milliseconds(float(t)):,.3g}" for t in row])
            for gpu, row in zip(gpus, least, strict=True)
        ],
    )
