"""Rule ``decode_trace``: the timeline of one execution as a trace."""

from pipeline import runlog, store
from pipeline.artifacts.decode_traces import make_trace

runlog.start(snakemake.log[0])

execution = snakemake.params.settings["execution"]
make_trace(store.read(snakemake.input[0]), execution, snakemake.output[0])
