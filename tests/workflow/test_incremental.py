"""Change one thing, and exactly what depends on it is made again."""

import shutil
from dataclasses import replace

import pytest

from pipeline.cache.run import RESTORED
from tests.workflow.changes import (
    another_branch_and_back,
    capability,
    config,
    edit,
    everywhere,
    installed,
    laid_out_otherwise,
    line,
    new,
    nothing,
    said_otherwise,
    statement,
    together,
    touched,
    value,
    without_records,
)
from tests.workflow.relations import (
    COMPARED,
    KERNELS,
    LADDERS,
    MODELLED,
    OF_MODELS,
    OF_ONE_MODEL,
    ON_DASK,
    OWN,
    RATES,
    SWITCHES,
    TIMED,
    behind,
    counted,
    everything,
    made_by,
    of,
    replayed,
)
from tests.workflow.scratch import SMALL, digests
from tests.workflow.settings import MINE, SETTINGS

pytestmark = pytest.mark.workflow

NOTHING = set()
SWEEPS = SMALL["sweeps"]
LADDER = "data/measured/sgemm_ladder.csv"
H100, A6000 = "data/gpus/h100_sxm.yaml", "data/gpus/rtx_a6000.yaml"
LISTED = '    "gpus": "pipeline.artifacts.lecture10.gpus",\n'
# What runs on GPUs of each kind, of which some stages show one.
ON_H100 = (*replayed("sm_90"), "sm_gemvs")
ON_A6000 = (*replayed("sm_86"), "sm_spans", "sm_tiles")
ARTIFACT = new(
    "pipeline/artifacts/lecture10/mine.py",
    like="pipeline/artifacts/lecture10/gpus.py",
    old='id="gpus"',
    instead='id="mine"',
)
PREDICTED = (
    "predictions",
    "own_predictions",
    "compiled_predictions",
    *COMPARED,
    *LADDERS.values(),
    *RATES.values(),
    *SWITCHES.values(),
    "sm_measured",
    "sm_ablation",
    "sm_tiles",
    "sm_gemvs",
)


# What is changed -> how, and the jobs that run again.
SAME = {
    "nothing": (nothing, NOTHING),
    "comments and docstrings": (everywhere("pipeline/**/*.py", said_otherwise), NOTHING),
    "those of scripts": (everywhere("workflow/scripts/*.py", said_otherwise), NOTHING),
    "empty lines": (everywhere("[pw]*/**/*.py", laid_out_otherwise), NOTHING),
    "comment in the Snakefile": (line("Snakefile", "# a comment"), NOTHING),
    "comments in rules": (
        everywhere("workflow/rules/*.smk", lambda text: f"# a comment\n{text}"),
        NOTHING,
    ),
    "a touch of everything": (touched, NOTHING),
    "another branch and back": (another_branch_and_back, NOTHING),
    "comment in a sheet": (edit(H100, "name:", "# a comment\nname:"), NOTHING),
    "comment in the environment": (edit("environment.yml", "name:", "# a\nname:"), NOTHING),
    "comment in an own kernel": (line("examples/transpose.py", "# a comment"), NOTHING),
    "docstring of an own kernel": (
        edit("examples/transpose.py", '"""Specification: what', '"""Said otherwise.'),
        NOTHING,
    ),
    "order of sizes": (config(counting={"sizes": [160, 128, 96, 64, 32]}), NOTHING),
    "order of large sizes": (config(extrapolation={"sizes": [4096, 1024]}), NOTHING),
    "order of a sweep": (config(sweeps={"tiles": SWEEPS["tiles"] | {"bm": [64, 32]}}), NOTHING),
    "number as text": (config(counting={"seed": "0"}), NOTHING),
    "defaults spelled out": (
        config(kernels={"k01_naive": None, "k03_smem": {"drop_sync": "none", "bs": 16.0}}),
        NOTHING,
    ),
    "kernel left out anyway": (config(kernels={"k02_coalesced": False}), NOTHING),
    "where sweeps run": (
        config(sweeps={"execution": {"scheduler": "processes", "threads": 2}}),
        NOTHING,
    ),
    "what sweeps may take": (
        config(sweeps={"budget": {"points": 1e7, "bytes": 1e9, "seconds": 60}}),
        NOTHING,
    ),
    "one core": (nothing, NOTHING, "--cores", "1"),
    "threads of a rule": (nothing, NOTHING, "--set-threads", "sweeps_tiles=2"),
    "sheet that nothing names": (value("data/gpus/t4.yaml", "clock_hz", "1.0e+9"), NOTHING),
    "plan that nothing names": (
        edit("data/fusion_plans/kernels12.yaml", "name: 12", "name: twelve"),
        NOTHING,
    ),
    "model that nothing names": (MINE, NOTHING),
    "artifact that is not listed": (ARTIFACT, NOTHING),
    "no kernels of one's own": (config(own_kernels=None), NOTHING),
}
DATA = {
    "a clock": (value(H100, "clock_hz", "1.0e+9"), behind("gpus", "sm_gpus", *ON_H100)),
    "a clock of the GPU that is shown": (
        value(A6000, "clock_hz", "1.0e+9"),
        behind("gpus", "sm_gpus", *ON_A6000),
    ),
    "a bandwidth": (
        value(A6000, "dram_bandwidth", "1.0e+12"),
        behind("gpus", "sm_gpus", *ON_A6000, "decode_timeline", "sweeps_timeline"),
    ),
    "a figure of the replay": (
        edit(H100, "l2_latency_near:\n    value: 265", "l2_latency_near:\n    value: 270"),
        behind("sm_gpus", *ON_H100),
    ),
    "a figure of the replay of the GPU that is shown": (
        edit(A6000, "clock_light:\n    value: 1.935", "clock_light:\n    value: 1.9"),
        behind("sm_gpus", *ON_A6000),
    ),
    "a figure of occupancy": (
        capability("9.0", "max_blocks_per_sm", 16),
        behind("gpus", "gpu_limits", "sm_gpus", *ON_H100),
    ),
    "a measured rate": (edit(LADDER, "1986.5", "1986.6"), behind("measured")),
    "a measured step": (line("data/measured/decode.csv", ""), behind("decode_measured")),
    "a published count": (
        edit("data/measured/smem_reads.csv", "1.125", "1.25"),
        behind("claimed_reads"),
    ),
    "a model": (value("data/models/qwen3_0_6b.yaml", "layers", 30), behind(*OF_MODELS)),
    "the model of the lecture": (
        value("data/models/llama_3_2_1b.yaml", "layers", 18),
        behind(*OF_MODELS, *OF_ONE_MODEL),
    ),
    "a plan": (
        edit("data/fusion_plans/kernels7.yaml", "name: 7", "name: seven"),
        behind(*TIMED, "sweeps_timeline"),
    ),
    "machine code": (
        line("data/sass/k05_blocktile_2d_sm_86.sass", ""),
        {"compiled_kernel k05_blocktile_2d"}
        | behind("compiled_counts", *replayed("sm_86"), "sm_spans"),
    ),
}
CODE = {
    "body of a kernel": (
        edit("pipeline/kernels/k05_blocktile_2d.py", "= blk.zeros(", "= 1 * blk.zeros("),
        {"simulate k05_blocktile_2d"} | behind("simulate", *MODELLED),
    ),
    "a counting rule": (
        statement("pipeline/simt/accounting.py"),
        counted(*KERNELS, *OWN) | behind("simulate", "own_simulate", "hazards", *MODELLED),
    ),
    "a timing formula": (
        edit("pipeline/timing/predict.py", "FLOP_PER_FMA = 2\n", "FLOP_PER_FMA = 2.0\n"),
        behind(*PREDICTED),
    ),
    "an own kernel": (
        edit("examples/transpose.py", "return x.T", "return 1 * x.T"),
        counted(*OWN) | behind("own_simulate"),
    ),
    "script of a stage": (statement("workflow/scripts/occupancy.py"), behind("occupancy")),
    "script of figures": (
        statement("workflow/scripts/artifact.py"),
        made_by("artifact", "figure"),
    ),
    "script of tables": (statement("workflow/scripts/table.py"), made_by("table")),
    "counts of tiles": (
        statement("pipeline/sweep/tile_counts.py"),
        behind("sweeps_tile_counts", "sweeps_warp_tile_counts"),
    ),
    "predictions of tiles": (
        statement("pipeline/sweep/tiles.py"),
        behind("sweeps_tiles", "sweeps_warp_tiles"),
    ),
    "a stage of its own": (
        statement("pipeline/tensor_core/ldmatrix_results.py"),
        behind("tensor_core_ldmatrix"),
    ),
    "a claim": (statement("pipeline/claims/lecture11/waves.py"), {"claims", "site"}),
    "the site": (statement("pipeline/site/tables.py"), {"site"}),
    "looks of the site": (line("pipeline/site/assets/site.css", "/* a comment */"), {"site"}),
    "a table": (statement("pipeline/artifacts/lecture10/gpus.py"), of("gpus")),
    "drawing of a figure": (statement("pipeline/artifacts/lecture10/roofline.py"), of("roofline")),
    "a caption": (
        edit("pipeline/artifacts/lecture10/roofline.py", "Filled marks", "Full marks"),
        of("roofline"),
    ),
    "a translation": (
        edit("pipeline/locale/zh.po", 'msgstr "屋顶线"', 'msgstr "屋顶模型"'),
        of("roofline"),
    ),
    "a colour": (
        edit("pipeline/artifacts/style.py", "#E69F00", "#E69F01"),
        made_by("artifact", "figure"),
    ),
    "a new artifact": (
        together(
            ARTIFACT,
            edit("pipeline/artifacts/catalog.py", LISTED, LISTED + LISTED.replace("gpus", "mine")),
        ),
        {"table lecture10 mine", "site"},
    ),
    "no records of results": (without_records, everything()),
    "numba": (installed("numba", "99.0"), everything()),
    "dask": (installed("dask", "2099.1"), behind(*ON_DASK)),
    "matplotlib": (installed("matplotlib", "99.0"), made_by("artifact", "figure")),
}
TABLE = {
    f"{kind}, {name}": row
    for kind, rows in (("same", SAME), ("settings", SETTINGS), ("data", DATA), ("code", CODE))
    for name, row in rows.items()
}


def test_all__a_second_run_has_nothing_to_do(built):
    code, shown = built.snakemake("all")
    assert code == 0
    assert "Nothing to be done" in shown


def test_clone__into_which_results_were_copied_computes_nothing(changed, record_property):
    """There are no records, and all files are of now; the manifest says what made each result."""
    record_property("table", "changes, and what is made again")
    before = digests(changed.folder / "results")
    logs = set((changed.folder / "logs").rglob("*.log"))
    with touched(changed):
        shutil.rmtree(changed.folder / ".snakemake")
        code, shown = replace(changed, cache=".cache").snakemake("all")
    assert code == 0, shown
    assert {log for log in logs if log.read_text(encoding="utf-8") != RESTORED} == set()
    assert digests(changed.folder / "results") == before


def test_own__without_kernels_says_so(built):
    with built.configured(own_kernels=None):
        code, shown = built.snakemake("--dry-run", "own")
    assert code == 0
    assert "the configuration names no kernels of your own" in shown


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_change__makes_again_exactly_what_depends_on_it(built, record_property, row):
    record_property("table", "changes, and what is made again")
    change, jobs, *arguments = row
    with change(built):
        planned = built.planned(*arguments)
    assert planned == jobs
