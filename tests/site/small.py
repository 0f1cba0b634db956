"""A small site with labels that try to break it."""

import json
from functools import cache

import pandas as pd

from pipeline.render.column import Column, Legend
from pipeline.render.figure import render_figure
from pipeline.render.table import render_table
from pipeline.site.build import Contents, site
from pipeline.site.material import read_material
from tests.artifacts import fixtures, fixtures_sweeps

HOSTILE = "<script>alert('1')</script>\"><img src=x onerror=alert(2)> & </table> {{ 7 * 7 }}"
LONG = "Name-without-a-place-to-break-" * 7
EMOJI = "GPU \N{ROCKET}\N{VARIATION SELECTOR-16} \N{FLAG IN HOLE}"
LABELS = (HOSTILE, LONG, EMOJI)

LANGUAGES = ("en", "zh")
LECTURES = {"lecture10": ["first", "tile_sweep"], "lecture11": ["timeline_sweep"]}
ROWS = 20


def draw(frame, figure):
    axes = figure.subplots()
    axes.bar(frame["gpu"], frame["rate"], color="#0072B2")
    axes.scatter([0.5, 1.5], [1, 2], marker="D", facecolors="none", edgecolors="black")
    axes.set(xlabel="GPU (1)", ylabel="rate (GFLOP/s)", title="A <title> & more")


def frame():
    names = [*LABELS, *(f"GPU {number}" for number in range(ROWS - len(LABELS)))]
    rates = [1234.5, float("nan"), 99.0, *(float(place) for place in range(ROWS - len(LABELS)))]
    return pd.DataFrame({"gpu": names, "rate": rates, "note": ["short", HOSTILE] * (ROWS // 2)})


COLUMNS = (
    Column("gpu", "GPU"),
    Column("rate", "rate", "GFLOP/s", ",.1f"),
    Column("note", "note <i>"),
)


def write_artifact(folder, lecture, artifact):
    """Write the files that an artifact's job writes, as few as pages need."""
    words = {
        language: {
            "title": f"Title of {artifact} {HOSTILE if artifact == 'first' else ''}",
            "caption": f"What {HOSTILE} is. And {LONG}.",
            "reading": "Marks mean something.",
            "alt": f"Alternative text: {HOSTILE}",
        }
        for language in LANGUAGES
    }
    record = {
        "id": artifact,
        "lecture": int(lecture.removeprefix("lecture")),
        "kinds": ["table", "figure"],
        "needs": {"predictions": "predictions", "tiles": "sweeps/tiles"},
        "parameters": {"gpu": "rtx_a6000", "shown_gpus": [HOSTILE, "h100_sxm"], "large_n": 4096},
        "words": words,
    }
    for language in LANGUAGES:
        ending = "" if language == "en" else f".{language}"
        legend = Legend(artifact, words[language]["title"], words[language]["caption"], language)
        tables = [folder / f"{lecture}/tables/{artifact}{ending}.{s}" for s in ("html", "tex")]
        render_table(frame(), COLUMNS, legend, tables)
        shown = frame().iloc[3:8]
        picture = folder / f"{lecture}/figures/{artifact}{ending}.svg"
        render_figure(shown, draw, legend, {}, [picture])
    render_table(frame(), COLUMNS, legend, [folder / f"{lecture}/tables/{artifact}.csv"])
    path = folder / f"{lecture}/words/{artifact}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


def claim(name, verdict, artifacts, measures):
    statement = dict.fromkeys(LANGUAGES, f"k01 needs {HOSTILE} sectors.")
    reason = "It is not there." if verdict == "not applicable" else ""
    return {
        "id": name,
        "lecture": 10,
        "artifacts": artifacts,
        "holds": verdict,
        "statement": statement,
        "reason": dict.fromkeys(LANGUAGES, reason),
        "measures": measures,
        "needs": {"counts": "results/counts.zarr"},
        "parameters": {},
    }


CLAIMS = {
    "counts": {"yes": 1, "no": 1, "not applicable": 1},
    "summary": dict.fromkeys(LANGUAGES, "1 claim holds, 1 does not: second."),
    "claims": [
        claim("first_one", "yes", ["first"], [{"name": "x", "value": 1.5, "lower": 1, "upper": 2}]),
        claim("second", "no", ["first", "tile_sweep"], [
            {"name": "x", "value": 3.0, "lower": None, "upper": 2},
            {"name": "y", "value": 3.0, "lower": 4, "upper": None},
            {"name": "z", "value": 3.0, "lower": 4, "upper": 4},
        ]),
        claim("third", "not applicable", ["first"], []),
    ],
}  # fmt: skip


def relabelled(dataset):
    """Give the first GPUs of a dataset names that try to break pages."""
    names = [str(name) for name in dataset["gpu_name"].to_numpy()]
    renamed = [*LABELS, *names[len(LABELS) :]][: len(names)]
    return dataset.assign_coords(gpu_name=("gpu", renamed))


@cache
def sweeps():
    return (
        fixtures_sweeps.tiles(),
        fixtures_sweeps.warp_tiles(),
        fixtures_sweeps.timelines(),
    )


def contents(folder):
    for lecture, artifacts in LECTURES.items():
        for artifact in artifacts:
            write_artifact(folder, lecture, artifact)
    paths = [path for path in folder.rglob("*.*") if path.is_file()]
    tiles, warp_tiles, timelines = map(relabelled, sweeps())
    return Contents(
        lectures=read_material(paths, LECTURES),
        claims=CLAIMS,
        gpus=relabelled(fixtures.gpus()),
        tiles=tiles,
        warp_tiles=warp_tiles,
        timelines=timelines,
    )


def small_site(folder, languages=LANGUAGES):
    return site(contents(folder), languages)
