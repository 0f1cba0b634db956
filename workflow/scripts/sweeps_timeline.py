"""Rule ``sweeps_timeline``: a decode step under every value of every parameter."""

from pipeline import runlog
from pipeline.region_store import sweep_to
from pipeline.sweep.execute import Limits
from pipeline.sweep.timelines import read_sweep

terminal = runlog.start(snakemake.log[0])

params = snakemake.params
decides = [params.workload, params.executions, params.gpus, params.settings]
limits = Limits.of(snakemake.resources, snakemake.threads)
depends_on = [*decides, params.code, params.versions]
sweep_to(snakemake.output[0], read_sweep(*decides), depends_on, limits, terminal, params)
