"""Rule ``sm_trace``: a span of cycles of one kernel as a trace."""

from pipeline import runlog, store
from pipeline.artifacts.replay_traces import make_trace

runlog.start(snakemake.log[0])

kernel = snakemake.params.settings["kernel"]
make_trace(store.read(snakemake.input[0]), kernel, snakemake.output[0])
