"""Rule ``decode_traces``: the timeline of each execution as a trace."""

from pipeline import runlog, store
from pipeline.artifacts.decode_traces import make_traces

runlog.start(snakemake.log[0])

executions = snakemake.params.settings["executions"]
make_traces(store.read(snakemake.input[0]), executions, snakemake.output)
