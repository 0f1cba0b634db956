"""The table and the figure of the user's own kernels, on stores made from the worked example."""

import re
from functools import cache, partial
from pathlib import Path

import matplotlib.style
import numpy as np
import pytest
import yaml
from matplotlib.figure import Figure
from matplotlib.text import Text

from pipeline.artifacts.make import make_table
from pipeline.artifacts.make_figure import make_figure
from pipeline.artifacts.own import own_kernels
from pipeline.artifacts.style import STYLE
from pipeline.config import parameters
from pipeline.config.own_kernels import choose_own, own_kernel
from pipeline.counting.extrapolate import extrapolate
from pipeline.counting.own_kernels import gather, own_launches, simulate_own
from pipeline.hardware.gpus import gpus
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.hardware.sheet import load_sheets
from pipeline.render.figure import WIDTH_INCHES
from pipeline.timing.predict import predict
from pipeline.user_file import load
from pipeline.words import english
from tests.artifacts.golden import GOLDEN, compare

ROOT = Path(__file__).parents[2]
SIZES = (32, 64, 96, 128, 160)
N = 4096
CARDS = ("rtx_a6000", "h100_sxm")
LABELS = ("naive transpose", "tiled transpose", "padded transpose")


@cache
def counts(failed=()):
    given = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    entries = choose_own(given["own_kernels"], ())[0]
    own = {name: own_kernel(name, entry) for name, entry in entries.items()}
    parts = [simulate_own(one, partial(load, one), SIZES, 160, 0) for one in own.values()]
    return gather(parts, parameters.own_labels(entries)).assign_attrs(failed=list(failed))


@cache
def stores():
    given = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    entries = choose_own(given["own_kernels"], ())[0]
    cards = gpus(load_sheets(ROOT / "data/gpus", CARDS))
    launches = own_launches(counts(), parameters.own_launch_values(entries))
    occupancy = ladder_occupancy(launches, cards)
    carried = extrapolate(counts(), [1024, N], 160)
    return {
        "counts": counts(),
        "extrapolation": carried,
        "occupancy": occupancy,
        "predictions": predict(carried, occupancy, cards),
        "gpus": cards,
    }


def table(**changes):
    given = {name: one for name, one in (stores() | changes).items() if name != "counts"}
    return own_kernels.table(**given, large_n=N)


def facts(gpu="rtx_a6000", **changes):
    return own_kernels.facts(**(stores() | changes), gpu=gpu, large_n=N, say=english)


def caption(**changes):
    return own_kernels.ARTIFACT.words(facts(**changes), english).caption


def without_room():
    """Predictions when no block of any kernel fits on the H100."""
    lost = stores()["predictions"].copy(deep=True)
    for name in (*own_kernels.TIMES, "t", "gflops"):
        lost[name].loc[{"gpu": "h100_sxm"}] = np.nan
    lost["bound"].loc[{"gpu": "h100_sxm"}] = "none"
    return lost


def test_table__has_a_row_per_gpu_and_kernel_in_their_orders():
    frame = table()
    assert frame["gpu"].tolist() == [card for card in CARDS for _ in LABELS]
    assert frame["kernel_name"].tolist() == [*LABELS, *LABELS]


def test_table__shows_why_each_step_helps():
    frame = table().set_index(["gpu", "kernel_name"])
    naive, tiled, padded = (frame.loc[("h100_sxm", label)] for label in LABELS)
    assert (naive["store_sectors"], tiled["store_sectors"], padded["store_sectors"]) == (32, 4, 4)
    assert (naive["load_sectors"], tiled["load_sectors"], padded["load_sectors"]) == (4, 4, 4)
    assert (tiled["load_wavefronts"], padded["load_wavefronts"]) == (32, 1)
    assert (tiled["conflicts"], padded["conflicts"]) == (16.5, 1)
    assert np.isnan(naive["conflicts"])
    assert (naive["bound"], tiled["bound"], padded["bound"]) == ("l1", "smem", "dram")
    assert padded["t"] < min(tiled["t"], naive["t"])


def test_table__bandwidth_and_times_by_hand():
    row = table().set_index(["gpu", "kernel_name"]).loc[("rtx_a6000", "padded transpose")]
    card = stores()["gpus"].sel(gpu="rtx_a6000")
    assert row["t_dram"] == pytest.approx(2 * N * N * 4 / card["dram_bandwidth"].item())
    assert row["effective_bandwidth"] == pytest.approx(2 * N * N * 4 / row["t"])
    assert row["share_of_dram"] == pytest.approx(1)
    # A load and a store of one line each for 32 elements, one line per SM and clock.
    lines = 2 * N * N / 32
    assert row["t_l1"] == pytest.approx(lines / (card["sm_count"].item() * card["clock_hz"].item()))
    assert np.isnan(row["gflops"])
    assert row["occupancy"] == 1


def test_columns__are_fields_of_the_table():
    fields = [column.field for column in own_kernels.COLUMNS]
    assert set(fields) <= set(table().columns)
    assert len(fields) == len(set(fields))


def test_caption__tells_what_binds_the_slowest_and_the_fastest():
    said = caption()
    assert "On the RTX A6000 all take 0.175 ms, set by DRAM." in said
    assert re.search(
        r"On the H100 SXM naive transpose takes 0\.0\d+ ms, set by L1 \(32 sectors per store "
        r"request\); padded transpose takes 0\.0\d+ ms, set by DRAM\.",
        said,
    )
    assert said.endswith("All kernels passed their check.")


def test_caption__tells_of_bank_conflicts():
    two = {
        name: data.sel(kernel=["transpose_tiled", "transpose_padded"])
        for name, data in stores().items()
        if "kernel" in data.dims
    }
    assert "set by shared (32 wavefronts per load of shared memory); padded" in caption(**two)


def test_caption__names_kernels_that_failed():
    said = caption(counts=counts(failed=("racy", "wrong")))
    assert said.endswith("Not shown, because they failed their check: racy, wrong.")


def test_caption__names_kernels_that_fit_on_no_gpu():
    occupancy = stores()["occupancy"].copy(deep=True)
    occupancy["smem_bytes"].loc["transpose_tiled"] = 327_680
    occupancy["blocks_per_sm"].loc["transpose_tiled"] = 0
    occupancy["limited_by"].loc["transpose_tiled"] = "shared"
    assert caption(occupancy=occupancy).endswith(
        " transpose_tiled runs on no GPU: a block takes 327680 bytes of shared memory, at most "
        "232448 are allowed."
    )


def test_caption__numbers_are_computed():
    typed = re.sub(r"\{[^}]*\}", "", own_kernels.ARTIFACT.caption + own_kernels.ARTIFACT.reading)
    assert not re.findall(r"\d", typed)


def test_caption__of_one_kernel_alone():
    one = {
        name: data.sel(kernel=["transpose_naive"])
        for name, data in stores().items()
        if "kernel" in data.dims
    }
    said = caption(**one)
    assert "On the H100 SXM" not in said
    assert "On the RTX A6000 all take" in said
    assert caption(gpu="h100_sxm", **one).count("On the H100 SXM all take") == 1


def test_artifact__where_no_block_fits_says_so(tmp_path):
    given = stores() | {"predictions": without_room()}
    settings = {"gpu": "h100_sxm", "large_n": N}
    make_table(own_kernels, given, settings, [tmp_path / "table.md"])
    shown = (tmp_path / "table.md").read_text()
    assert "On the H100 SXM no kernel can run." in shown
    assert "nan" not in shown.lower()
    make_figure(own_kernels, given, settings, [tmp_path / "figure.svg"])


@pytest.mark.parametrize(("run", "folder"), [(make_table, "tables"), (make_figure, "figures")])
def test_artifact__equals_the_golden_csv(run, folder, tmp_path, regen):
    made = tmp_path / "own_kernels.csv"
    run(own_kernels, stores(), {"gpu": "rtx_a6000", "large_n": N}, [made])
    compare(GOLDEN / folder / made.name, made.read_text(), regen)


@pytest.mark.parametrize("run", [make_table, make_figure])
def test_artifact__same_bytes_each_time_and_labels_do_no_harm(run, tmp_path):
    hostile = "<b>$x_1^2$ & \\frac|`*`</b>"
    given = {
        name: data.assign_coords(
            kernel_label=("kernel", [f"{hostile}{i}" for i in range(3)], {"units": "1"})
        )
        if "kernel" in data.dims
        else data
        for name, data in stores().items()
    }
    kinds = {make_table: ("csv", "md", "html", "tex"), make_figure: ("csv", "svg", "png")}[run]
    for folder in ("a", "b"):
        outputs = [tmp_path / folder / f"own.{kind}" for kind in kinds]
        run(own_kernels, given, {"gpu": "rtx_a6000", "large_n": N}, outputs)
    for kind in kinds:
        one, two = ((tmp_path / folder / f"own.{kind}").read_bytes() for folder in "ab")
        assert one == two
        assert b"<b>" not in one or kind in ("csv", "png")


def test_figure__has_a_panel_per_gpu_and_kernel_with_text_inside():
    frame = own_kernels.drawn(
        **{name: one for name, one in stores().items() if name != "counts"},
        gpu="rtx_a6000",
        large_n=N,
    )
    with matplotlib.style.context(STYLE, after_reset=True):
        figure = Figure(figsize=(WIDTH_INCHES, 4), layout="constrained")
        own_kernels.draw(frame, figure, english)
        figure.draw_without_rendering()
        assert [axes.get_title("left") for axes in figure.axes] == [*LABELS, *LABELS]
        assert {axes.get_xlabel() for axes in figure.axes} == {"time (ms)"}
        for text in figure.findobj(Text):
            if text.get_text() and text.get_visible() and not text.get_clip_on():
                box = text.get_window_extent()
                assert figure.bbox.x0 - 1 <= box.x0
                assert box.x1 <= figure.bbox.x1 + 1
