import re
from functools import cache
from importlib import import_module
from itertools import combinations

import matplotlib.style
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from pipeline.artifacts import make, make_figure
from pipeline.artifacts.catalog import CATALOG, OWN, OWN_CUDA
from pipeline.artifacts.style import STYLE
from pipeline.render.figure import WIDTH_INCHES, lettering
from pipeline.words import english, speaker
from tests.artifacts import fixtures, fixtures_decode
from tests.artifacts.golden import GOLDEN, compare
from tests.artifacts.stores import STORES
from tests.artifacts.test_style import GREY_STEP, lab, linear

# Settings of each lecture.
PARAMETERS = {10: fixtures.PARAMETERS, 11: fixtures_decode.LECTURE11}
TABLE_SUFFIXES = ("csv", "md", "html", "tex")
FIGURE_SUFFIXES = ("svg", "png", "csv")
MOST_LINES = 7
SMALLEST_TYPE = 8

MODULES = {key: module for ids in CATALOG.values() for key, module in ids.items()}
TABLES = [key for key, name in MODULES.items() if hasattr(import_module(name), "table")]
FIGURES = [key for key, name in MODULES.items() if hasattr(import_module(name), "draw")]


def together(keys):
    """Parameters of tests: those of an artifact go to one worker, which draws it once for all."""
    return [pytest.param(key, marks=pytest.mark.xdist_group(f"artifact {key}")) for key in keys]


@cache
def store(name):
    return STORES[name]()


def arguments(key, change=lambda name, dataset: dataset, **parameters):
    artifact = import_module(MODULES[key]).ARTIFACT
    datasets = {name: change(of, store(of)) for name, of in artifact.needs.items()}
    settings = PARAMETERS[artifact.lecture] | parameters
    return datasets, {name: settings[name] for name in artifact.parameters}


def call(key, function, change=lambda name, dataset: dataset, say=english, **parameters):
    datasets, settings = arguments(key, change, **parameters)
    function = getattr(import_module(MODULES[key]), function)
    named = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = datasets | settings | {"say": say}
    return function(**{name: given[name] for name in named})


def drawing(key, language="en", **parameters):
    """Draw an artifact as render does; to be used inside ``style()``."""
    say = speaker(language)
    figure = Figure(figsize=(WIDTH_INCHES, 4), layout="constrained")
    draw = make_figure.drawing(import_module(MODULES[key]), say)
    draw(call(key, "drawn", say=say, **parameters), figure)
    figure.draw_without_rendering()
    return figure


@cache
def finished(key, language="en"):
    """A figure as it is, drawn once for all tests that only look at it."""
    with style(language):
        return drawing(key, language)


def style(language="en"):
    return lettering(language, STYLE)


@pytest.mark.parametrize("key", together(TABLES))
def test_table__equals_the_golden_csv(key, tmp_path, regen):
    make.make_table(import_module(MODULES[key]), *arguments(key), [tmp_path / f"{key}.csv"])
    compare(GOLDEN / f"tables/{key}.csv", (tmp_path / f"{key}.csv").read_text(), regen)


@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__draws_the_numbers_of_the_golden_csv(key, tmp_path, regen):
    make_figure.make_figure(import_module(MODULES[key]), *arguments(key), [tmp_path / f"{key}.csv"])
    compare(GOLDEN / f"figures/{key}.csv", (tmp_path / f"{key}.csv").read_text(), regen)


def test_captions__equal_the_golden_text(regen):
    lines = []
    for key, name in MODULES.items():
        words = import_module(name).ARTIFACT.words(call(key, "facts"), english)
        lines.append(f"{key}: {words.title}. {words.both}")
    compare(GOLDEN / "captions.txt", "\n".join(lines) + "\n", regen)


def test_golden__holds_nothing_that_no_artifact_makes():
    on_disk = {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file()}
    tables = {f"tables/{key}.csv" for key in (*TABLES, *OWN, *OWN_CUDA)}
    figures = {f"figures/{key}.csv" for key in (*FIGURES, *OWN, "own_cuda")}
    assert on_disk == tables | figures | {"captions.txt"}


@pytest.mark.parametrize("key", together(MODULES))
def test_captions__are_full_sentences_without_typed_numbers(key):
    artifact = import_module(MODULES[key]).ARTIFACT
    for template in (artifact.caption, artifact.reading):
        if template:
            assert re.fullmatch(r"[A-Z{].*\.(.*\})?", template), template
        typed = re.sub(r"\{[^}]*\}|FP32|float64|L1|k\d\d|1/n|where 1 is right", "", template)
        assert not re.findall(r"\d", typed)
    words = artifact.words(call(key, "facts"), english)
    for text in (words.caption, words.both, words.alt):
        assert text.endswith(".")
        assert not re.search(r"[{}]|nan|inf\b|\.\.|  ", text), text
    assert not words.title.endswith(".")
    assert words.alt.startswith(words.title)


@pytest.mark.parametrize("key", together(TABLES))
def test_columns__are_fields_of_the_table_with_units(key):
    module = import_module(MODULES[key])
    table = call(key, "table")
    fields = [column.field for column in module.COLUMNS]
    assert set(fields) <= set(table.columns)
    assert len(fields) == len(set(fields))
    for column in module.COLUMNS:
        numeric = pd.api.types.is_numeric_dtype(table[column.field])
        assert numeric == (not column.is_text), column.field
        assert "(" not in column.heading


@pytest.mark.parametrize("key", together(key for key in TABLES if key != "missing_sync"))
def test_tables__keep_the_order_of_the_ladder(key):
    def shuffled(name, dataset):
        shuffle = [3, 1, 12, 11, 5, 0, 8, 2, 10, 4, 6, 9, 7]
        whole = dataset.sizes.get("kernel") == len(shuffle)
        return dataset.isel(kernel=shuffle) if whole else dataset

    pd.testing.assert_frame_equal(call(key, "table", shuffled), call(key, "table"))


@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__every_axis_label_ends_with_a_unit(key):
    figure = finished(key)
    panels = figure.findobj(matplotlib.axes.Axes)
    axes = [axis for panel in panels for axis in (panel.xaxis, panel.yaxis)]
    labels = [axis.get_label_text() for axis in axes if axis.get_label_text()]
    assert labels
    for label in labels:
        assert re.search(r"\([^()]+\)$", label), label


@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__numbers_along_an_axis_have_a_label(key):
    figure = finished(key)
    for panel in figure.findobj(matplotlib.axes.Axes):
        for axis, sides in ((panel.xaxis, ("labelbottom",)), (panel.yaxis, ("labelleft",))):
            shown = any(axis.get_tick_params()[side] for side in sides)
            texts = [tick.get_text() for tick in axis.get_ticklabels()]
            if shown and any(re.fullmatch(r"[\d.,]+%?", text) for text in texts):
                grid = panel.get_subplotspec()
                inner = axis is panel.xaxis and not grid.is_last_row()
                assert axis.get_label_text() or inner, texts


@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__at_most_seven_lines_in_a_panel(key):
    figure = finished(key)
    for axes in figure.findobj(matplotlib.axes.Axes):
        assert len(axes.lines) <= MOST_LINES


def look(handle):
    """What of a mark, line or area in a legend is not its colour."""
    if isinstance(handle, PathCollection):
        shape = handle.get_paths()[0].vertices.round(3).tolist()
        return "mark", str(shape), len(handle.get_facecolor())
    if isinstance(handle, Line2D):
        return "line", str(handle.get_marker()), str(handle._dash_pattern)
    patch = handle[0] if isinstance(handle, BarContainer) else handle
    return "area", str(patch.get_hatch())


def grey_step(one, two):
    """Difference of lightness of two areas; marks and lines are too thin to have one."""
    if look(one)[0] != "area":
        return 0
    faces = [(handle[0] if isinstance(handle, BarContainer) else handle).get_facecolor()
             for handle in (one, two)]  # fmt: skip
    return abs(lab(linear(faces[0]))[0] - lab(linear(faces[1]))[0])


@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__no_two_entries_of_a_legend_differ_by_colour_alone(key):
    for axes in finished(key).findobj(matplotlib.axes.Axes):
        handles, labels = axes.get_legend_handles_labels()
        named = dict(zip(labels, handles, strict=True))
        for one, two in combinations(named, 2):
            alike = look(named[one]) == look(named[two])
            assert not alike or grey_step(named[one], named[two]) >= GREY_STEP, (one, two)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__all_text_is_inside_and_large_enough(key, language):
    figure = finished(key, language)
    with style(language):
        renderer = FigureCanvasAgg(figure).get_renderer()
        texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
        for text in texts:
            box = text.get_window_extent(renderer)
            assert text.get_fontsize() >= SMALLEST_TYPE, text.get_text()
            if text.get_clip_on() or box.width == 0:
                continue
            inside = figure.bbox.padded(1)
            assert inside.x0 <= box.x0, text.get_text()
            assert box.x1 <= inside.x1, text.get_text()
            assert inside.y0 <= box.y0, text.get_text()
            assert box.y1 <= inside.y1, text.get_text()


@pytest.mark.parametrize("key", together(FIGURES))
def test_figure__every_mark_lies_in_its_panel(key):
    for axes in finished(key).findobj(matplotlib.axes.Axes):
        frame = axes.get_window_extent().padded(1)
        for marks in (one for one in axes.collections if isinstance(one, PathCollection)):
            offsets = np.ma.filled(marks.get_offsets().astype(float), np.nan)
            known = offsets[np.isfinite(offsets).all(axis=1)]
            for x, y in marks.get_offset_transform().transform(known):
                assert frame.contains(x, y), axes.get_title()


@pytest.mark.parametrize("key", together(MODULES))
def test_artifact__same_bytes_each_time_in_every_format(key, tmp_path):
    module = import_module(MODULES[key])
    for folder in (tmp_path / "a", tmp_path / "b"):
        if key in TABLES:
            outputs = [folder / f"table.{suffix}" for suffix in TABLE_SUFFIXES]
            make.make_table(module, *arguments(key), outputs)
        if key in FIGURES:
            outputs = [folder / f"figure.{suffix}" for suffix in FIGURE_SUFFIXES]
            make_figure.make_figure(module, *arguments(key), outputs)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


HOSTILE = "<b>$x_1^2$ & \\frac|`*`</b>"


def renamed(name, dataset):
    labels = ("gpu_name", "kernel_label", "model_name", "execution_label", "case_label")
    return dataset.assign_coords(
        {
            label: (
                dataset[label].dims,
                np.array([f"{HOSTILE}{i}" for i in range(dataset[label].size)]).reshape(
                    dataset[label].shape
                ),
                dataset[label].attrs,
            )
            for label in labels
            if label in dataset.coords
        }
    )


@pytest.mark.parametrize("key", together(MODULES))
def test_artifact__hostile_labels_do_no_harm(key, tmp_path):
    module = import_module(MODULES[key])
    if key in TABLES:
        outputs = [tmp_path / f"table.{suffix}" for suffix in TABLE_SUFFIXES]
        make.make_table(module, *arguments(key, renamed), outputs)
        assert "<b>" not in (tmp_path / "table.html").read_text()
        assert "<b>" not in (tmp_path / "table.md").read_text()
        assert "\\frac" not in (tmp_path / "table.tex").read_text()
    if key in FIGURES:
        make_figure.make_figure(module, *arguments(key, renamed), [tmp_path / "figure.svg"])
        assert "<b>" not in (tmp_path / "figure.svg").read_text()


def one_kernel(name, dataset):
    return dataset.sel(kernel=["k03_smem"]) if "kernel" in dataset.dims else dataset


def one_gpu(name, dataset):
    return dataset.sel(gpu=["h100_sxm"]) if "gpu" in dataset.dims else dataset


def one_model(name, dataset):
    return dataset.sel(model=["llama_3_2_1b"]) if "model" in dataset.dims else dataset


def one_way_to_launch(name, dataset):
    one = ["megakernel_prefetch"]
    return dataset.sel(execution=one) if name == "timeline" else dataset


def nothing_varied(name, dataset):
    return dataset.isel(variant=[0]) if "variant" in dataset.dims else dataset


def one_case(name, dataset):
    return dataset.isel(case=[0]) if "case" in dataset.dims else dataset


def nothing_published(name, dataset):
    if name == "validation":
        return dataset.isel(measurement=slice(0), validated_gpu=slice(0))
    return dataset.isel(measurement=slice(0)) if name == "measured" else dataset


def one_kernel_does_not_fit(name, dataset):
    if name != "predictions":
        return dataset
    out = dataset.copy(deep=True)
    lost = {"kernel": "k05_blocktile_2d", "gpu": "rtx_a6000"}
    for variable in ("t", "t_fma", "t_issue", "t_l1", "t_smem", "t_dram", "gflops"):
        out[variable].loc[lost] = np.nan
    out["bound"].loc[lost] = "none"
    return out


def one_kernel_is_not_simulated_at_the_small_size(name, dataset):
    if name != "counts":
        return dataset
    out = dataset.copy(deep=True)
    for variable in out:
        out[variable].loc[{"kernel": "k05_blocktile_2d", "n": 128}] = 0
    return out


CHANGES = {
    one_kernel: {"counts", "occupancy", "extrapolation", "predictions"},
    one_gpu: {"gpus", "gpu_limits", "occupancy", "predictions", "decode/timeline", "tile_order"},
    one_model: {"decode/ledger", "decode/timeline"},
    one_way_to_launch: {"decode/timeline"},
    nothing_varied: {"decode/sensitivity"},
    one_case: {"decode/waves"},
    nothing_published: {"measured", "validation"},
    one_kernel_does_not_fit: {"predictions"},
    one_kernel_is_not_simulated_at_the_small_size: {"counts"},
}
CHANGED = [
    pytest.param(key, change, id=f"{key}-{change.__name__}")
    for change, stores in CHANGES.items()
    for key, name in MODULES.items()
    if stores & set(import_module(name).ARTIFACT.needs.values())
]


@pytest.mark.parametrize(("key", "change"), CHANGED)
def test_artifact__other_configurations(key, change, tmp_path):
    module = import_module(MODULES[key])
    gpu = {"gpu": "h100_sxm", "shown_gpus": ["h100_sxm"]} if change is one_gpu else {}
    if key in TABLES:
        make.make_table(module, *arguments(key, change, **gpu), [tmp_path / "table.md"])
        assert "nan" not in (tmp_path / "table.md").read_text().lower()
    if key in FIGURES:
        make_figure.make_figure(module, *arguments(key, change, **gpu), [tmp_path / "figure.svg"])
