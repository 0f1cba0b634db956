"""Tables, figure and page of compiled kernels of the user's own, made from listings."""

import re
from functools import cache, partial
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from pipeline import store
from pipeline.artifacts.catalog import OWN_CUDA
from pipeline.artifacts.cuda_page import Launched, make_pages
from pipeline.artifacts.make import make_table
from pipeline.artifacts.make_figure import make_figure
from pipeline.counting.own_cuda import CudaArgument, OwnCuda, launch_without_contents
from pipeline.counting.own_cuda_gather import gather_cuda, gather_rows
from pipeline.counting.own_cuda_run import run_own_cuda
from pipeline.hardware.gpus import gpus
from pipeline.hardware.sheet import load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.listing_files import compiled, read_sources
from pipeline.render.column import MISSING
from pipeline.timing.compiled import predict_launches
from pipeline.timing.replay_launch import gather_replays, replay_launch
from tests.artifacts.golden import GOLDEN, compare

ROOT = Path(__file__).parents[2]
LISTINGS = ROOT / "tests/compiled/listings"
SOURCE = ROOT / "tests/compiled/kernels/turned.cu"
N, CARDS, ARCHS = 256, ("rtx_a6000", "v100_sxm2", "rtx_5090"), ("sm_80", "sm_120")
LABELS = {"conflicts": "pitch of 32 <&", "padded": "pitch_33", "racy": "racy", "lost": "lost"}


def own(name):
    if name == "racy":
        numbers = [CudaArgument(one, "int32", (), (value,)) for one, value in
                   (("n", 256), ("mode", 1))]  # fmt: skip
        arrays = [CudaArgument(one, "float32", (256,), "random", one == "o") for one in "xo"]
        return OwnCuda(name, "hazards", "hazards", (2,), (128,), 0, (*arrays, *numbers))
    pitch = 33 if name == "padded" else 32
    arrays = [CudaArgument(one, "float32", (N, N), "random", one == "out") for one in ("x", "out")]
    numbers = [CudaArgument(one, "int32", (), (value,)) for one, value in
               (("w", N), ("h", N), ("stride", pitch))]  # fmt: skip
    entry = "nowhere" if name == "lost" else "turned"
    grid = (N // 32, N // 32)
    return OwnCuda(name, "turned", entry, grid, (32, 8), 128 * pitch, (*arrays, *numbers))


def program_of(one, arch):
    return partial(compiled, LISTINGS / f"{one.file}_{arch}.sass", arch, one.entry)


@cache
def runs(name):
    one = own(name)
    return [run_own_cuda(one, program_of(one, arch), None, arch, 0) for arch in ARCHS]


@cache
def replays(name):
    one, cards = own(name), sm_gpus(load_sheets(ROOT / "data/gpus", CARDS))
    launch = partial(launch_without_contents, one)
    return [replay_launch(name, arch, program_of(one, arch), launch, cards) for arch in ARCHS]


@cache
def stores():
    every = [run for name in LABELS for run in runs(name)]
    cards = gpus(load_sheets(ROOT / "data/gpus", CARDS))
    counts = gather_cuda([one for one, _ in every], LABELS)
    lines, memory = gather_rows([rows for _, rows in every], LABELS)
    predictions = predict_launches(counts, cards)
    replayed = [one for name in LABELS for one, _ in replays(name)]
    shown = sm_gpus(load_sheets(ROOT / "data/gpus", CARDS))
    return {
        "replays": gather_replays(replayed, LABELS, shown),
        "counts": counts, "lines": lines, "memory": memory, "predictions": predictions,
        "gpus": cards,
    }  # fmt: skip


def made(key, suffix, folder, make=make_table):
    path = folder / f"{key}{suffix}"
    module = import_module(OWN_CUDA[key])
    needed = {name: stores()[name] for name in module.ARTIFACT.needs}
    assert {of.split("_")[-1] for of in module.ARTIFACT.needs.values()} == set(needed)
    make(module, needed, {"gpu": "rtx_a6000"}, [path])
    return path.read_bytes()


def page(name, folder, ending=".html", through=lambda dataset: dataset):
    sources = read_sources([str(SOURCE)])
    given = [stores()[one] for one in ("counts", "predictions", "gpus")]
    rows, stalls = ([one for _, one in found(name)] for found in (runs, replays))
    replayed, *stalls = map(through, (stores()["replays"], *stalls))
    launched = Launched(own(name), *given, rows, sources, replayed, stalls)
    make_pages(launched, [str(folder / f"page{ending}")])
    return (folder / f"page{ending}").read_text(encoding="utf-8")


class Text(HTMLParser):
    """All text of a page, and the addresses that it names."""

    def __init__(self, html):
        super().__init__()
        self.parts, self.links, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.parts.append(data)

    def __str__(self):
        return " ".join(" ".join(self.parts).split())


@pytest.mark.parametrize("key", OWN_CUDA)
def test_table__is_made_in_every_format_with_labels_as_they_are(key, tmp_path):
    markdown = made(key, ".md", tmp_path).decode()
    assert "pitch of 32 &lt;&amp;" in markdown
    assert str(Text(made(key, ".html", tmp_path).decode())).count("pitch of 32 <&")
    assert made(key, ".tex", tmp_path)
    assert made(key, ".csv", tmp_path) == made(key, ".csv", tmp_path)


@pytest.mark.parametrize("key", OWN_CUDA)
def test_table__equals_the_golden_csv(key, tmp_path, regen):
    compare(GOLDEN / f"tables/{key}.csv", made(key, ".csv", tmp_path).decode(), regen)


def test_figure__draws_the_numbers_of_the_golden_csv(tmp_path, regen):
    drawn = made("own_cuda", ".csv", tmp_path, make_figure).decode()
    compare(GOLDEN / "figures/own_cuda.csv", drawn, regen)


def test_table__of_times_says_where_there_is_no_code_and_what_failed(tmp_path):
    text = made("own_cuda", ".md", tmp_path).decode()
    assert "No kernel has code for V100 SXM2." in text
    failed = "Failed: racy for sm\\_80, racy for sm\\_120, lost for sm\\_80, lost for sm\\_120."
    assert failed in text
    row = next(line for line in text.splitlines() if "| V100" in line and "pitch of" in line)
    assert [cell.strip() for cell in row.split("|")[3:9]] == [MISSING] * 6
    assert row.count("no code for it") == 1


def test_table__of_memory_names_the_worst(tmp_path):
    text = made("own_cuda_memory", ".md", tmp_path).decode()
    assert "shared loads of pitch of 32 &lt;&amp; take 32 times the ideal wavefronts" in text


def test_table__of_lines_shows_the_conflict_and_what_is_clean(tmp_path):
    text = made("own_cuda_lines", ".md", tmp_path).decode()
    assert text.count("turned.cu:11") == len(ARCHS)
    assert "without any: pitch\\_33, racy." in text


def test_figure__is_made(tmp_path):
    assert made("own_cuda", ".png", tmp_path, make_figure)[:4] == b"\x89PNG"
    assert made("own_cuda", ".svg", tmp_path, make_figure) == made(
        "own_cuda", ".svg", tmp_path, make_figure
    )


def test_page__reads_like_a_report_and_loads_nothing(tmp_path):
    html = page("conflicts", tmp_path)
    text = Text(html)
    assert text.links == []
    assert text.open == []
    assert "<script" not in html
    assert 'name="viewport"' in html
    for part in ("pitch of 32 <&", "On every GPU", "Instruction mix", "Memory", "line by line",
                 "Source lines that waste most", "Machine code,", "Code for sm_120",
                 "lanes of a warp meet in the same banks"):  # fmt: skip
        assert part in str(text)
    assert re.search(r"turned.cu:11 takes 65,536 wavefronts where 2,048 would do", str(text))
    assert SOURCE.read_text(encoding="utf-8").splitlines()[6].strip() in "".join(text.parts)


def test_page__of_a_right_kernel_says_that_nothing_is_wasted(tmp_path):
    text = str(Text(page("padded", tmp_path)))
    assert "No access takes more sectors or wavefronts than its bytes need." in text
    assert "Source lines that waste most" not in text


def test_page__shows_hazards_with_counts(tmp_path):
    text = str(Text(page("racy", tmp_path)))
    assert "Failed: read_after_write at hazards.cu:24" in text
    assert "(in all 2 times)" in text
    assert "Instruction mix" in text


def test_page__of_what_could_not_be_launched_says_why(tmp_path):
    text = str(Text(page("lost", tmp_path)))
    assert "there is no kernel nowhere; there are turned" in text
    assert "Instruction mix" not in text


def test_page__escapes_what_the_configuration_says(tmp_path):
    html = page("conflicts", tmp_path)
    assert "pitch of 32 &lt;&amp;" in html
    assert "<&" not in html


@pytest.mark.parametrize("name", LABELS)
def test_page__of_another_language_says_the_same_in_it(name, tmp_path):
    html = page(name, tmp_path, ".zh.html")
    text, original = Text(html), Text(page(name, tmp_path))
    assert '<html lang="zh">' in html
    # What is English in both: names, code, and why a kernel failed.
    told = [" ".join(part.split()) for part in text.parts]
    said = {part for part in original.parts if re.fullmatch(r"[A-Z][a-z]+( [a-z]+){2,}.*", part)}
    assert len(said) >= 5
    assert said.isdisjoint(told)
    numbers = [
        re.findall(r"\d[\d,]*\d", " ".join(sorted(re.findall(r"<td.*?</td>", one))))
        for one in (html, page(name, tmp_path))
    ]
    assert numbers[0] == numbers[1]


def test_page__gives_hazards_in_another_language(tmp_path):
    text = str(Text(page("racy", tmp_path, ".zh.html")))
    assert "hazards.cu:24 处的 read_after_write：块 (0, 0, 0)" in text
    assert "在上一个屏障之后写的数据（共 2 次）" in text
    assert "失败：" in text


def test_page__shows_the_replay_and_where_warps_wait(tmp_path):
    text = str(Text(page("conflicts", tmp_path)))
    assert "Replay on one SM." in text
    assert "short scoreboard" in text
    told = r"On one SM of the GeForce RTX 5090, warps wait for \d+% .* before turned.cu:11"
    assert re.search(told, text)
    # Once for the source and once for the instructions; no GPU runs what is for sm_80.
    assert text.count("cycles waited, GeForce RTX 5090") == 2


def test_page__cycles_waited_sum_to_those_of_the_replay(tmp_path):
    html = page("conflicts", tmp_path)
    heading = "cycles waited, GeForce RTX 5090"
    (code,) = (one for one in html.split("<figure>") if heading in one and "LDS" in one)
    rows = re.findall(r"<tr.*?>(<th scope=\"row\".*?)</tr>", code)
    cells = [re.findall(r"<td class=\"number\">(.*?)</td>", row)[-1] for row in rows]
    shown = sum(int(one.replace(",", "")) for one in cells if one)
    stalls = replays("conflicts")[1][1]["stall_cycles"]
    waited = float(stalls.sum() - stalls.sel(stall_reason="selected").sum())
    assert abs(shown - waited) <= len(rows)


def test_page__says_why_what_depends_on_data_is_not_replayed(tmp_path):
    text = str(Text(page("racy", tmp_path)))
    assert "Not replayed on GeForce RTX 5090: hazards: which threads run" in text
    assert "Replay on one SM." not in text
    chinese = str(Text(page("racy", tmp_path, ".zh.html")))
    assert "没有在 GeForce RTX 5090 上重放：" in chinese


def test_page_and_table__of_replays_are_the_same_from_stores(tmp_path):
    """What is read from a store has labels of another type."""

    def stored(dataset):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.zarr"
        store.write(dataset, path)
        return store.read(path)

    assert page("conflicts", tmp_path, through=stored) == page("conflicts", tmp_path)
    module = import_module(OWN_CUDA["own_cuda_replay"])
    given = [stores()[name] for name in module.ARTIFACT.needs]
    pd.testing.assert_frame_equal(
        module.table(*map(stored, given)), module.table(*given), check_dtype=False
    )


def test_table__of_replays_names_what_is_left_out(tmp_path):
    text = made("own_cuda_replay", ".md", tmp_path).decode()
    assert "Not replayed: racy for sm\\_120, lost for sm\\_120; their pages say why." in text
    assert "A6000" not in text
