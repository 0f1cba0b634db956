"""Change one thing, and exactly what depends on it is made again."""

import os
import re
import time
from importlib import import_module

import pytest

from pipeline.artifacts.catalog import CATALOG
from pipeline.artifacts.catalog import OWN as ARTIFACTS_OF_OWN
from pipeline.claims.catalog import CLAIMS
from pipeline.config import claim_plan
from pipeline.config.artifact_plan import ids, needs, of_kinds
from pipeline.vocab.decode_spans import INSTRUCTIONS
from tests.workflow.scratch import OWN as OWN_ENTRY
from tests.workflow.scratch import SMALL

pytestmark = pytest.mark.workflow

KERNELS = list(SMALL["kernels"])
OWN = list(SMALL["own_kernels"])
TIMELINES = (*SMALL["decode"]["executions"], INSTRUCTIONS)
# Rule -> kinds of the artifacts that it makes.
RULES_OF_KINDS = {"artifact": ("table", "figure"), "table": ("table",), "figure": ("figure",)}
# Stages that the site reads besides what artifacts and claims show.
EXPLORED = {"gpus", "sweeps_tiles", "sweeps_warp_tiles", "sweeps_timeline"}
# Stages that count kernels of the ladder by themselves, as they were measured or with other tiles.
MODELLED = (
    "counters_measured",
    "validation",
    "sweeps_tiles",
    "sweeps_warp_tiles",
    "bank_patterns",
    "sm_measured",
    "sm_ablation",
    "sm_tiles",
)
# Those of them that also predict.
COMPARED = ("validation", "sweeps_tiles", "sweeps_warp_tiles")
DECODE = ("decode_ledger", "decode_timeline", "decode_waves", "decode_sensitivity")
# Those that read every model, and those that time a step as the lecture does.
OF_MODELS = ("decode_ledger", "decode_timeline", "decode_compared")
TIMED = ("decode_timeline", "decode_sensitivity", "decode_spans", "decode_compared")
# Stage -> stages that read its store.
READ_BY = {
    "simulate": {"counts"},
    "counts": {"extrapolation"},
    "extrapolation": {"predictions"},
    "occupancy": {"predictions"},
    "gpus": {
        "predictions",
        "validation",
        "own_predictions",
        "sweeps_tiles",
        "sweeps_warp_tiles",
        "tile_order",
        "decode_gpu_figures",
        "megakernel",
        "decode_compared",
        "compiled_predictions",
        "sm_tiles",
    },
    "sm_gpus": {
        *(f"sm_kernel {kernel}" for kernel in KERNELS),
        "sm_spans",
        "sm_measured",
        "sm_ablation",
        "sm_tiles",
        "sm_gemvs",
    },
    **{f"sm_kernel {kernel}": {"sm_predictions"} for kernel in KERNELS},
    "sm_spans": {f"sm_trace {kernel}" for kernel in KERNELS},
    "sm_measured": {"validation"},
    "decode_measured": {"decode_gpu_figures", "decode_compared", "sm_gemvs"},
    "decode_gpu_figures": {"megakernel", "megakernel_trace"},
    "megakernel_trace": {"decode_spans"},
    "decode_spans": {f"decode_trace {execution}" for execution in TIMELINES},
    "compiled_counts": {"compiled_predictions"},
    "compiled_predictions": {"validation"},
    "sweeps_tiles": {"sweeps_best_tiles"},
    "sweeps_warp_tiles": {"sweeps_best_warp_tiles"},
    "sweeps_timeline": {"sweeps_timeline_gain"},
    "gpu_limits": {
        "occupancy",
        "counters_measured",
        "own_occupancy",
        *(f"own_check {kernel}" for kernel in OWN),
    },
    "measured": {
        "validation",
        "sweeps_best_tiles",
        "sweeps_best_warp_tiles",
        "sm_measured",
        "sm_ablation",
        "sm_tiles",
    },
    "own_simulate": {"own_counts"},
    "own_counts": {"own_extrapolation", "own_occupancy"},
    "own_extrapolation": {"own_predictions"},
    "own_occupancy": {"own_predictions"},
}


def artifacts():
    """Every job that makes an artifact: its name in a plan, and the stores that it needs."""
    # The small configuration names no CUDA of its own, so nothing shows any.
    shown = {one for group in (*CATALOG.values(), ARTIFACTS_OF_OWN) for one in group}
    for lecture in (*(f"lecture{number}" for number in CATALOG), "own"):
        for rule, kinds in RULES_OF_KINDS.items():
            for artifact in {*of_kinds(*kinds)} & {*ids(kinds[0], lecture)} & shown:
                stores = needs(lecture, artifact).values()
                names = (store.removeprefix("results/").removesuffix(".zarr") for store in stores)
                stages = {name.replace("/", "_") for name in names}
                yield f"{rule} {lecture} {artifact}", stages


def readers():
    """Every job that no other stage reads: those of artifacts, the claims, and the site of both."""
    yield from artifacts()
    stores = claim_plan.needs().values()
    names = (store.removeprefix("results/").removesuffix(".zarr") for store in stores)
    claimed = {name.replace("/", "_") for name in names}
    yield "claims", claimed
    shown = [needed for job, needed in artifacts() if job.split()[1] != "own"]
    yield "site", claimed.union(EXPLORED, *shown)


def behind(*stages):
    """What a plan holds when these stages run: the stages after them, and what shows any."""
    reached, waiting = set(), list(stages)
    while waiting:
        stage = waiting.pop()
        reached.add(stage)
        waiting += READ_BY.get(stage, set()) - reached
    shown = {job for job, needed in readers() if needed & reached}
    return (reached - {"simulate", "own_simulate"}) | shown


def counted(*kernels):
    """What a plan holds of the ladder and of own kernels when these are counted again."""
    own = {f"own_{job} {kernel}" for kernel in kernels for job in ("simulate", "check")}
    return {f"simulate {kernel}" for kernel in kernels if kernel in KERNELS} | {
        job for job in own if job.split()[1] in OWN
    }


def compiled():
    """What a plan holds when machine code is counted again."""
    return {f"compiled_kernel {kernel}" for kernel in KERNELS}


def replayed():
    """What replays whole kernels."""
    return {f"sm_kernel {kernel}" for kernel in KERNELS}


def of(*shown):
    """Jobs that make artifacts of lecture 10, and the site that shows them."""
    made = {
        job for job, _ in artifacts() if job.split()[1:] in [["lecture10", one] for one in shown]
    }
    return made | {"site"}


def sharing(setting):
    """Jobs of artifacts, and of claims, that take one setting of the lecture."""
    takers = {
        name
        for name, module in (CATALOG[10] | ARTIFACTS_OF_OWN).items()
        if setting in import_module(module).ARTIFACT.parameters
    }
    takers |= {"claims" for one in CLAIMS if one.lecture == 10 and setting in one.parameters}
    return {job for job, _ in readers() if job.split()[-1] in takers} | {"site"}


def test_all__a_second_run_has_nothing_to_do(built):
    code, shown = built.snakemake("all")
    assert code == 0
    assert "Nothing to be done" in shown


# What changes no result reruns nothing


def test_package__comments_and_docstrings_rerun_nothing(built):
    paths = [
        path
        for folder in ("pipeline", "workflow/scripts")
        for path in (built.folder / folder).rglob("*.py")
    ]
    before = {path: path.read_text(encoding="utf-8") for path in paths}
    try:
        for path, text in before.items():
            lines = text.rstrip("\n").splitlines()
            lines[0] = lines[0].replace('"""', '"""Said otherwise: ', 1)
            path.write_text("\n".join([*lines, "# a comment", ""]), encoding="utf-8")
        assert built.planned() == set()
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")


def test_everything__touched_reruns_nothing(built):
    # As a git checkout to another branch and back does, or a copy without time stamps.
    now = time.time()
    for path in built.folder.rglob("*"):
        if ".snakemake" not in path.relative_to(built.folder).parts[:1]:
            os.utime(path, (now, now))
    assert built.planned() == set()


def test_sheet__comment_reruns_nothing(built):
    with built.edited("data/gpus/h100_sxm.yaml", "name:", "# a comment\nname:"):
        assert built.planned() == set()


def test_environment__comment_reruns_nothing(built):
    with built.edited("environment.yml", "name:", "# a comment\nname:"):
        assert built.planned() == set()


@pytest.mark.parametrize(
    "change",
    [
        {"counting": {"sizes": [160, 128, 96, 64, 32]}},
        {"counting": {"seed": "0"}},
        {"kernels": {"k01_naive": None, "k03_smem": {"drop_sync": "none", "bs": 16.0}}},
        {"kernels": {"k02_coalesced": False}},
        {"sweeps": {"execution": {"scheduler": "processes", "threads": 2}}},
        {"sweeps": {"budget": {"points": 1e7, "bytes": 1e9, "seconds": 60}}},
    ],
    ids=[
        "order of sizes",
        "number as text",
        "defaults spelled out",
        "kernel left out anyway",
        "where sweeps run",
        "what sweeps may take",
    ],
)
def test_config__another_spelling_reruns_nothing(built, change):
    with built.configured(**change):
        assert built.planned() == set()


# What changes a result reruns what depends on it


def test_clock__of_one_gpu_reruns_predictions_and_what_shows_them(built):
    sheet = built.text("data/gpus/h100_sxm.yaml")
    clock = sheet.split("clock_hz:")[1].split("value:")[1].split()[0]
    with built.edited("data/gpus/h100_sxm.yaml", clock, "1.0e+9"):
        planned = built.planned()
    assert planned == behind("gpus", "sm_gpus")
    assert "predictions" in planned
    kept = ("simulate", "counts", "occupancy", "artifact lecture10 occupancy", "gpu_limits")
    assert not any(job.startswith(kept) for job in planned)


def test_bandwidth__of_one_gpu_reruns_times_and_no_counts(built):
    sheet = built.text("data/gpus/rtx_a6000.yaml")
    (bandwidth,) = re.findall(r"^dram_bandwidth:\n  value: (\S+)$", sheet, re.MULTILINE)
    with built.edited("data/gpus/rtx_a6000.yaml", bandwidth, "1.0e+12"):
        planned = built.planned()
    assert planned == behind("gpus", "sm_gpus", "decode_timeline", "sweeps_timeline")


def test_decode__an_assumption_reruns_the_times_of_a_step(built):
    with built.configured(decode={"timeline": SMALL["decode"]["timeline"] | {"ramp": 2e-6}}):
        assert built.planned() == behind(*TIMED)


def test_decode__another_model_or_plan_reruns_what_names_it(built):
    with built.edited("data/models/qwen3_0_6b.yaml", "layers: {value: 28", "layers: {value: 30"):
        assert built.planned() == behind(*OF_MODELS)
    with built.edited("data/fusion_plans/kernels7.yaml", "name: 7", "name: seven"):
        planned = built.planned()
    assert planned == behind(*TIMED, "sweeps_timeline")
    with built.edited("data/fusion_plans/kernels12.yaml", "name: 12", "name: twelve"):
        assert built.planned() == set()


def test_decode__a_new_model_needs_a_file_and_its_name(built):
    path = built.folder / "data/models/mine.yaml"
    path.write_text(built.text("data/models/qwen3_0_6b.yaml"), encoding="utf-8")
    assert built.planned() == set()
    with built.configured(decode={"models": ["llama_3_2_1b", "mine"]}):
        assert built.planned() == behind(*OF_MODELS)
    path.unlink()


def test_occupancy_figure__of_one_gpu_reruns_occupancy_and_what_shows_it(built):
    name = "data/compute_capabilities.yaml"
    table = built.text(name)
    head, tail = table.split('"9.0"')
    changed = re.sub(r"(max_blocks_per_sm:\s*\{?\s*value: )\d+", r"\g<1>16", tail, count=1)
    assert changed != tail
    with built.edited(name, table, f'{head}"9.0"{changed}'):
        assert built.planned() == behind("gpus", "gpu_limits", "sm_gpus")


def test_kernel__body_of_k05_is_counted_again_and_no_other(built):
    name = "pipeline/kernels/k05_blocktile_2d.py"
    with built.edited(name, "= blk.zeros(", "= 1 * blk.zeros("):
        planned = built.planned()
    assert planned == {"simulate k05_blocktile_2d"} | behind("simulate", *MODELLED)


def test_kernel__option_of_one_reruns_its_counts_and_the_occupancy(built):
    changed = {"k05_blocktile_2d": {"bm": 32, "bn": 32, "tm": 4, "tn": 4, "vec_b": True}}
    with built.configured(kernels=changed):
        planned = built.planned()
    assert planned == {"simulate k05_blocktile_2d"} | behind("simulate")


def test_kernel__left_out_simulates_nothing(built):
    with built.configured(kernels={"k05_blocktile_2d": False}):
        planned = built.planned()
    stages = ("counts", "occupancy", "compiled_counts", "sm_predictions", "sm_spans")
    assert planned == behind(*stages) - {"sm_trace k05_blocktile_2d"}


def test_kernel__added_simulates_that_one(built):
    with built.configured(kernels={"k02_coalesced": {}}):
        planned = built.planned()
    rules = ("simulate", "compiled_kernel", "sm_kernel", "sm_trace")
    stages = ("simulate", "occupancy", "compiled_counts", "sm_predictions", "sm_spans")
    assert planned == {f"{rule} k02_coalesced" for rule in rules} | behind(*stages)


def test_simulator__an_edit_counts_all_kernels_again(built):
    name = "pipeline/simt/accounting.py"
    text = built.text(name)
    with built.edited(name, text, text + "\nANOTHER = 1\n"):
        planned = built.planned()
    assert planned >= counted(*KERNELS, *OWN) | {"hazards", *MODELLED}
    assert not planned & {"gpus", "measured"}


def test_timing__an_edit_reruns_what_predicts(built):
    name = "pipeline/timing/predict.py"
    with built.edited(name, "FLOP_PER_FMA = 2\n", "FLOP_PER_FMA = 2.0\n"):
        assert built.planned() == behind(
            "predictions",
            "own_predictions",
            "compiled_predictions",
            *COMPARED,
            *replayed(),
            "sm_measured",
            "sm_ablation",
            "sm_tiles",
            "sm_gemvs",
        )


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("workflow/scripts/occupancy.py", behind("occupancy")),
        ("workflow/scripts/artifact.py", {job for job, _ in artifacts()} | {"site"}),
        ("pipeline/tensor_core/ldmatrix_results.py", behind("tensor_core_ldmatrix")),
        ("pipeline/artifacts/lecture10/gpus.py", of("gpus")),
        ("pipeline/claims/lecture11/waves.py", {"claims", "site"}),
        ("pipeline/site/tables.py", {"site"}),
        ("pipeline/artifacts/lecture10/roofline.py", of("roofline")),
        ("pipeline/artifacts/lecture10/bottlenecks.py", of("bottlenecks")),
    ],
)
def test_code__an_edit_reruns_its_users_alone(built, name, jobs):
    text = built.text(name)
    with built.edited(name, text, text + "\nANOTHER = 1\n"):
        assert built.planned() == jobs


def test_translation__of_one_caption_reruns_the_artifacts_that_have_it(built):
    with built.edited("pipeline/locale/zh.po", 'msgstr "屋顶线"', 'msgstr "屋顶模型"'):
        assert built.planned() == of("roofline")


def test_artifact__a_new_one_is_a_file_and_a_line_and_one_job(built):
    listed = '    "gpus": "pipeline.artifacts.lecture10.gpus",\n'
    new = built.folder / "pipeline/artifacts/lecture10/mine.py"
    text = built.text("pipeline/artifacts/lecture10/gpus.py")
    new.write_text(text.replace('id="gpus"', 'id="mine"'), encoding="utf-8")
    try:
        assert built.planned() == set()
        with built.edited(
            "pipeline/artifacts/catalog.py", listed, listed + listed.replace("gpus", "mine")
        ):
            assert built.planned() == {"table lecture10 mine", "site"}
    finally:
        new.unlink()


@pytest.mark.parametrize(
    ("change", "jobs"),
    [
        (
            {"counting": {"seed": 1}},
            counted(*KERNELS, *OWN) | behind("simulate", "hazards", "own_simulate"),
        ),
        (
            {"counting": {"wavefronts": "hardware"}},
            counted(*KERNELS, *OWN) | behind("simulate", "own_simulate", "sm_tiles", *COMPARED),
        ),
        (
            {"counting": {"held_out": 32, "per_fma_base": 160}},
            counted(*OWN) | behind("extrapolation", "own_simulate"),
        ),
        ({"hazards": {"sizes": [32, 64]}}, behind("hazards")),
        ({"tile_order": {"largest_group": 9}}, behind("tile_order")),
        ({"replay": {"cycles": 32}}, behind("sm_spans")),
        (
            {"extrapolation": {"sizes": [1024, 2048, 4096]}},
            compiled() | behind("extrapolation", "own_extrapolation", "compiled_counts"),
        ),
        (
            {"compiled": {"n": 2048}},
            compiled() | behind("compiled_counts", *replayed(), "sm_spans"),
        ),
        ({"lecture10": {"gpu": "h100_sxm"}}, sharing("gpu") | behind("sm_spans")),
        ({"lecture10": {"shown_gpus": ["h100_sxm"]}}, sharing("shown_gpus")),
        ({"lecture10": {"large_n": 1024}}, sharing("large_n")),
        (
            {"gpus": ["rtx_a6000", "h100_sxm", "a100_sxm_40gb"]},
            behind("gpus", "sm_gpus", "gpu_limits", "decode_timeline", "sweeps_timeline"),
        ),
    ],
    ids=[
        "seed",
        "rule",
        "numbers exchanged",
        "hazards",
        "tile order",
        "replay",
        "sizes",
        "compiled",
        "lecture gpu",
        "lecture gpus",
        "lecture n",
        "gpus",
    ],
)
def test_config__a_value_reruns_what_reads_it(built, change, jobs):
    with built.configured(**change):
        assert built.planned() == jobs


def test_measured__one_value_reruns_what_shows_it(built):
    with built.edited("data/measured/sgemm_ladder.csv", "1986.5", "1986.6"):
        assert built.planned() == behind("measured")


# Kernels of the user's own


def test_own_kernel__a_comment_or_a_docstring_in_its_file_reruns_nothing(built):
    name = "examples/transpose.py"
    text = built.text(name)
    docstring = '"""Specification: what'
    assert docstring in text
    commented = text.replace(docstring, '"""Said otherwise.') + "# a comment\n"
    with built.edited(name, text, commented):
        assert built.planned() == set()


def test_own_kernel__an_edit_of_its_file_counts_the_kernels_in_it_again(built):
    with built.edited("examples/transpose.py", "return x.T", "return 1 * x.T"):
        assert built.planned() == counted(*OWN) | behind("own_simulate")


def test_own_kernel__an_option_of_one_counts_that_one_again(built):
    changed = OWN_ENTRY | {"kernel": "tiled", "options": {"pitch": 35}}
    with built.configured(own_kernels={"transpose_padded": changed}):
        assert built.planned() == counted("transpose_padded") | behind("own_simulate")


@pytest.mark.parametrize(
    ("key", "value", "stages"),
    [("registers", 64, ["own_occupancy"]), ("label", "by rows", ["own_counts", "own_occupancy"])],
)
def test_own_kernel__what_is_only_said_of_it_counts_nothing_again(built, key, value, stages):
    changed = OWN_ENTRY | {"kernel": "naive", key: value}
    with built.configured(own_kernels={"transpose_naive": changed}):
        assert built.planned() == behind(*stages, "own_check transpose_naive")


def test_own_kernel__left_out_runs_nothing_of_the_ladder(built):
    with built.configured(own_kernels={"transpose_naive": False}):
        assert built.planned() == behind("own_counts")


def test_own_kernels__none_of_them_is_nothing_to_do(built):
    with built.configured(own_kernels=None):
        assert built.planned() == set()
        code, shown = built.snakemake("--dry-run", "own")
    assert code == 0
    assert "the configuration names no kernels of your own" in shown


def test_versions__are_in_every_rule(built):
    versions = "from importlib.metadata import version\n"
    with built.edited(
        "pipeline/provenance.py", versions, "def version(name):\n    return '0'\n\n\n"
    ):
        planned = built.planned()
    every_job = {job for job, _ in readers()} | counted(*KERNELS, *OWN)
    every_job |= compiled()
    counted_once = ("counts", "own_counts", "block_programs", "compiled_counts")
    stores = ("gpus", "gpu_limits", "measured", "hazards", *counted_once, *MODELLED)
    stores += ("sweeps_timeline", "sm_gpus")
    tensor_core = ("tensor_core_fragments", "tensor_core_ldmatrix")
    published = ("claimed_reads", "decode_measured")
    assert planned == every_job | behind(*stores, *tensor_core, *DECODE, *published)
