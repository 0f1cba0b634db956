"""What depends on what, as the stages are declared to: apart from Snakemake, which must agree."""

from importlib import import_module

from pipeline.artifacts.catalog import CATALOG
from pipeline.artifacts.catalog import OWN as ARTIFACTS_OF_OWN
from pipeline.claims.catalog import CLAIMS
from pipeline.config import claim_plan
from pipeline.config.artifact_plan import ids, needs, of_kinds
from tests.workflow.scratch import SMALL

KERNELS = list(SMALL["kernels"])
OWN = list(SMALL["own_kernels"])
# Rule -> kinds of the artifacts that it makes.
RULES_OF_KINDS = {"artifact": ("table", "figure"), "table": ("table",), "figure": ("figure",)}
# Stages that the site reads besides what artifacts and claims show.
EXPLORED = {"gpus", "sweeps_tiles", "sweeps_warp_tiles", "sweeps_timeline"}
# Jobs that replay the ladder, published rates, and these without each mechanism: by architecture.
LADDERS = {"sm_86": "sm_ladder_shown sm_86", "sm_90": "sm_ladder sm_90"}
RATES, SWITCHES = (
    {arch: f"{rule} {arch}" for arch in LADDERS} for rule in ("sm_rates", "sm_switches")
)
# Stages that count kernels of the ladder by themselves, as they were measured or with other tiles.
MODELLED = (
    "counters_measured",
    "validation",
    "sweeps_tile_counts",
    "sweeps_warp_tile_counts",
    "bank_patterns",
    *RATES.values(),
    *SWITCHES.values(),
    "sm_measured",
    "sm_ablation",
    "sm_tiles",
)
# Those of them that count as the configuration says.
COUNTED = ("validation", "sweeps_tile_counts", "sweeps_warp_tile_counts")
# Those that predict from such counts.
COMPARED = ("validation", "sweeps_tiles", "sweeps_warp_tiles")
DECODE = ("decode_ledger", "decode_timeline", "decode_waves", "decode_sensitivity")
# Those that read every model, and those that time a step as the lecture does.
OF_MODELS = ("decode_ledger", "decode_timeline", "decode_compared")
TIMED = ("decode_timeline", "decode_sensitivity", "decode_spans", "decode_compared")
# Those that read a model of which the lecture shows one, and those that read a plan of fusion.
OF_ONE_MODEL = ("decode_waves", "decode_sensitivity", "decode_spans", "megakernel")
OF_ONE_MODEL += ("megakernel_trace", "sweeps_timeline")
# Sweeps that run on dask.
ON_DASK = ("sweeps_tile_counts", "sweeps_warp_tile_counts", "sweeps_tiles", "sweeps_warp_tiles")
ON_DASK += ("sweeps_timeline", "sweeps_timeline_gain")
# Stages that nothing else makes run, beside those that are named above.
FIRST = (
    "gpus",
    "gpu_limits",
    "sm_gpus",
    *LADDERS.values(),
    "sm_spans",
    "sm_gemvs",
    "measured",
    "hazards",
    "counts",
    "own_counts",
    "block_programs",
    "compiled_counts",
    "claimed_reads",
    "decode_measured",
    "tensor_core_fragments",
    "tensor_core_ldmatrix",
)
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
    },
    **{ladder: {"sm_predictions"} for ladder in LADDERS.values()},
    **{rates: {"sm_measured"} for rates in RATES.values()},
    **{switches: {"sm_ablation"} for switches in SWITCHES.values()},
    "sm_spans": {"sm_traces"},
    "sm_measured": {"validation"},
    "decode_measured": {"decode_gpu_figures", "decode_compared", "sm_gemvs"},
    "decode_gpu_figures": {"megakernel", "megakernel_trace"},
    "megakernel_trace": {"decode_spans"},
    "decode_spans": {"decode_traces"},
    "compiled_counts": {"compiled_predictions"},
    "compiled_predictions": {"validation"},
    "sweeps_tile_counts": {"sweeps_tiles"},
    "sweeps_warp_tile_counts": {"sweeps_warp_tiles"},
    "sweeps_tiles": {"sweeps_best_tiles"},
    "sweeps_warp_tiles": {"sweeps_best_warp_tiles"},
    "sweeps_timeline": {"sweeps_timeline_gain"},
    "gpu_limits": {
        "occupancy",
        "sweeps_tile_counts",
        "sweeps_warp_tile_counts",
        "counters_measured",
        "own_occupancy",
        *(f"own_check {kernel}" for kernel in OWN),
    },
    "measured": {
        "validation",
        "sweeps_best_tiles",
        "sweeps_best_warp_tiles",
        *RATES.values(),
        *SWITCHES.values(),
        "sm_measured",
        "sm_ablation",
        "sm_tiles",
    },
    "own_simulate": {"own_counts"},
    "own_counts": {"own_extrapolation", "own_occupancy"},
    "own_extrapolation": {"own_predictions"},
    "own_occupancy": {"own_predictions"},
}


def artifacts(*rules):
    """Every job that makes an artifact, by one of these rules or by any: its name, its stores."""
    # The small configuration names no CUDA of its own, so nothing shows any.
    shown = {one for group in (*CATALOG.values(), ARTIFACTS_OF_OWN) for one in group}
    for lecture in (*(f"lecture{number}" for number in CATALOG), "own"):
        for rule in rules or RULES_OF_KINDS:
            kinds = RULES_OF_KINDS[rule]
            for artifact in {*of_kinds(*kinds)} & {*ids(kinds[0], lecture)} & shown:
                stores = needs(lecture, artifact).values()
                names = (store.removeprefix("results/").removesuffix(".zarr") for store in stores)
                yield f"{rule} {lecture} {artifact}", {name.replace("/", "_") for name in names}


def made_by(*rules):
    """Jobs that make artifacts, by one of these rules or by any, and the site that shows them."""
    return {job for job, _ in artifacts(*rules)} | {"site"}


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


def replayed(arch):
    """What replays launches on the GPUs of one architecture."""
    return {LADDERS[arch], RATES[arch], SWITCHES[arch]}


def of(*shown):
    """Jobs that make artifacts of lecture 10, and the site that shows them."""
    made = {
        job for job, _ in artifacts() if job.split()[1:] in [["lecture10", one] for one in shown]
    }
    return made | {"site"}


def sharing(setting, lecture=10):
    """Jobs of artifacts, and of claims, that take one setting of a lecture."""
    listed = CATALOG[lecture] | (ARTIFACTS_OF_OWN if lecture == 10 else {})
    takers = {
        name
        for name, module in listed.items()
        if setting in import_module(module).ARTIFACT.parameters
    }
    takers |= {"claims" for one in CLAIMS if one.lecture == lecture and setting in one.parameters}
    folders = (f"lecture{lecture}", "own")
    return {
        job
        for job, _ in readers()
        if job.split()[-1] in takers and (job == "claims" or job.split()[1] in folders)
    } | {"site"}


def everything():
    """Every job there is."""
    every = {job for job, _ in readers()} | counted(*KERNELS, *OWN) | compiled()
    return every | behind(*FIRST, *MODELLED, *DECODE, "sweeps_timeline")
