# Paper GPU: kernels on a GPU made of arrays, from exact counters to lecture artifacts.
#
#   snakemake all         every result, table and figure
#   snakemake lecture10   the tables and figures of lecture 10, and what they need
#   snakemake lecture11   the same for lecture 11
#   snakemake own         kernels of your own: checked, counted, predicted
#
# Run it in this folder. Settings are in config/config.yaml; they and the data sheets are checked
# here, before anything runs.

import gc
import os
import sys
import time
from pathlib import Path

# All that is made while this file is read stays until the end of the run: to look for garbage in it
# now and then, and once more at the end, would take a third of the time of a run with nothing to do.
gc.disable()

# Jobs import the package from this checkout, whether it is installed or not.
sys.path.insert(0, workflow.basedir)
places = filter(None, [workflow.basedir, os.getenv("PYTHONPATH")])
os.environ.update(PYTHONPATH=os.pathsep.join(places))

from pipeline import listing_files, manifest, run_lock, runlog
from pipeline.cache.place import from_environment
from pipeline.cache.run import Run
from pipeline.claims import report
from pipeline.config import (
    artifact_plan,
    claim_plan,
    decode_parameters,
    load,
    messages,
    own_cuda,
    parameters,
    site_plan,
    yaml_files,
)
from pipeline.decode.execution import gpu_costs
from pipeline.decode.model_sheet import load_models
from pipeline.decode.plan_sheet import load_plans
from pipeline.errors import PaperGpuError
from pipeline.hardware.plain_figures import alone, side_by_side
from pipeline.hardware.sheet import load_sheets
from pipeline.provenance import code_digest, imported_distributions, library_versions
from pipeline.published_listings import published_listings
from pipeline.renew_listings import GEMV_ARCHITECTURES
from pipeline.vocab.decode_spans import INSTRUCTIONS
from snakemake.logging import logger
from workflow import cached_jobs, endings, warm_jobs

STARTED = time.time()
RESULTS = Path("results")

workflow.execute = endings.afterwards(workflow.execute, endings.cancel_timers)

# Inside the lock of a run.
warm_jobs.install(workflow)

# Before it plans: what another run makes meanwhile would not be in the plan. Also where there was
# nothing to do, the run before may have been killed before its end.
if workflow.is_main_process:
    workflow.execute = run_lock.one_at_a_time(
        workflow.execute,
        lambda: CACHED.enter(RESULTS, map(manifest.Job.of, workflow.dag.jobs)),
    )

# Mistakes end the run with their message alone; an exception would show lines of this file, which
# the user did not write.
try:
    yaml_files.require_clean([Path("config/config.yaml")])
    CACHED = Run(
        from_environment(os.environ), Path(workflow.basedir), say=logger.warning
    )
except PaperGpuError as error:
    sys.exit(f"{error}")


configfile: "config/config.yaml"


try:
    yaml_files.require_clean(map(Path, workflow.configfiles))
    SETTINGS = load.load(config)
    CACHED.watch(parameters.own_files(SETTINGS.own_kernels, SETTINGS.own_cuda))
    SHEETS = load_sheets(Path("data/gpus"), SETTINGS.gpus)
    MODELS = load_models(Path("data/models"), SETTINGS.decode.models)
    PLANS = load_plans(
        Path("data/fusion_plans"), decode_parameters.plan_ids(SETTINGS.decode)
    )
    (LAUNCHED,) = load_sheets(Path("data/gpus"), [SETTINGS.decode.launch_gpu]).values()
    DECODE_GPUS = gpu_costs(SHEETS, LAUNCHED, SETTINGS.decode.launch_costs == "own")
except PaperGpuError as error:
    sys.exit(f"{error}")


wildcard_constraints:
    lecture="lecture[0-9]+|own",


include: "workflow/rules/hardware.smk"
include: "workflow/rules/measured.smk"
include: "workflow/rules/counting.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/compiled.smk"
include: "workflow/rules/sm.smk"
include: "workflow/rules/tensor_core.smk"
include: "workflow/rules/tile_order.smk"
include: "workflow/rules/shared_memory.smk"
include: "workflow/rules/own.smk"
include: "workflow/rules/own_cuda.smk"
include: "workflow/rules/decode.smk"
include: "workflow/rules/megakernel.smk"
include: "workflow/rules/sweeps.smk"
include: "workflow/rules/block_programs.smk"
include: "workflow/rules/artifacts.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/site.smk"


# What is about to be made has no digest until it is finished, however the run ends; what it takes
# the place of is kept. Snakemake marks a job as begun only after it has removed its old outputs:
# half of a store would look finished if it were killed between.
onstart:
    for job in workflow.dag.needrun_jobs():
        workflow.persistence.started(job)
    forgotten = manifest.forget(
        RESULTS, map(manifest.Job.of, workflow.dag.needrun_jobs())
    )
    CACHED.adopt(forgotten)


onsuccess:
    CACHED.close()
    if CACHED.restored:
        print(CACHED.told())
    # A run for other targets leaves the claims as they are, perhaps those of earlier results.
    if "claims" in {job.rule.name for job in workflow.dag.jobs}:
        print(report.told("results/claims.json", claim_plan.language(SETTINGS)))


# The other jobs went on, so what went wrong stands far above.
onerror:
    unfinished = set(workflow.dag.needrun_jobs())
    finished = (job for job in workflow.dag.jobs if job not in unfinished)
    CACHED.enter(RESULTS, map(manifest.Job.of, finished))
    CACHED.close()
    print("", *runlog.mistakes("logs", STARTED), sep="\n", file=sys.stderr)


rule lecture10:
    input:
        artifact_plan.files("lecture10", SETTINGS),
        rules.sm_traces.output,
    message:
        artifact_plan.summary("lecture10")


rule lecture11:
    input:
        artifact_plan.files("lecture11", SETTINGS),
        rules.decode_traces.output,
    message:
        artifact_plan.summary("lecture11")


rule own:
    input:
        artifact_plan.own_files(SETTINGS),
        artifact_plan.cuda_files(SETTINGS),
    message:
        artifact_plan.own_summary(SETTINGS.own_kernels, SETTINGS.own_cuda)


rule all:
    default_target: True
    input:
        rules.lecture10.input,
        rules.lecture11.input,
        rules.own.input,
        rules.claims.output,
        rules.site.output,
        rules.gpus.output,
        rules.gpu_limits.output,
        rules.measured.output,
        # Also what only leads to others: if it is damaged and deleted, it is made again.
        expand(rules.simulate.output, kernel=SETTINGS.kernels),
        rules.counts.output,
        rules.hazards.output,
        rules.extrapolation.output,
        rules.occupancy.output,
        rules.predictions.output,
        rules.counters_measured.output,
        expand(rules.compiled_kernel.output, kernel=SETTINGS.kernels),
        rules.compiled_counts.output,
        rules.compiled_predictions.output,
        rules.sm_gpus.output,
        expand(rules.sm_ladder_shown.output, arch=SETTINGS.compiled.architectures),
        rules.sm_predictions.input,
        rules.sm_predictions.output,
        rules.sm_spans.output,
        rules.sm_measured.input.replays,
        rules.sm_measured.output,
        rules.sm_ablation.input.replays,
        rules.sm_ablation.output,
        rules.sm_tiles.output,
        rules.sm_gemvs.output,
        rules.validation.output,
        rules.decode_ledger.output,
        rules.decode_timeline.output,
        rules.decode_waves.output,
        rules.decode_sensitivity.output,
        rules.block_programs.output,
        rules.decode_measured.output,
        rules.tensor_core_fragments.output,
        rules.tensor_core_ldmatrix.output,
        rules.sweeps_tile_counts.output,
        rules.sweeps_warp_tile_counts.output,
        rules.sweeps_tiles.output,
        rules.sweeps_warp_tiles.output,
        rules.sweeps_best_tiles.output,
        rules.sweeps_best_warp_tiles.output,
        rules.tile_order.output,
        rules.bank_patterns.output,
        rules.claimed_reads.output,
        rules.sweeps_timeline.output,
        rules.sweeps_timeline_gain.output,
        rules.decode_gpu_figures.output,
        rules.megakernel.output,
        rules.megakernel_trace.output,
        rules.decode_spans.output,
        rules.decode_compared.output,


cached_jobs.install(workflow, CACHED, RESULTS)

gc.freeze()
gc.enable()
