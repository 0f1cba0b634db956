"""Names of GPUs that try to break tables and figures: markup, 200 characters, emoji."""

from html import unescape
from importlib import import_module

import pytest

from pipeline.artifacts.make import make_tables
from pipeline.artifacts.make_figure import make_figures
from tests.artifacts.test_artifacts import MODULES, arguments
from tests.site.small import LABELS

# Artifacts that name GPUs, each in another way: titles, rows, legends, cells.
SHOWN = ["gpus", "across_gpus", "tile_order", "timeline_sweep"]


def relabelled(_, dataset):
    if "gpu_name" not in dataset.coords or "gpu" not in dataset.dims:
        return dataset
    names = dataset["gpu_name"].to_numpy().tolist()
    return dataset.assign_coords(gpu_name=("gpu", [*LABELS, *names[len(LABELS) :]][: len(names)]))


# Warnings are errors: a glyph that is missing, or axes without room, would be one.
@pytest.mark.parametrize("key", SHOWN)
def test_artifact__shows_any_name(key, tmp_path):
    module = import_module(MODULES[key])
    outputs = [tmp_path / f"words/{key}.json"]
    if hasattr(module, "table"):
        outputs += [tmp_path / f"tables/{key}{suffix}" for suffix in (".csv", ".html")]
    if hasattr(module, "draw"):
        outputs += [tmp_path / f"figures/{key}{suffix}" for suffix in (".csv", ".svg")]
    make_tables(module, *arguments(key, relabelled), ["en"], outputs)
    make_figures(module, *arguments(key, relabelled), outputs)
    for path in outputs:
        text = path.read_text(encoding="utf-8")
        assert "<script>" not in text or path.suffix != ".html"
        if path.suffix == ".html":
            assert any(label in unescape(text) for label in LABELS)
