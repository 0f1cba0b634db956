"""Rule ``decode_traces``: the timeline of each execution as a trace."""

from functools import partial

from pipeline import runlog, store
from pipeline.artifacts.decode_traces import execution_trace
from pipeline.render.trace import render_traces

runlog.start(snakemake.log[0])

trace = partial(execution_trace, store.read(snakemake.input[0]))
render_traces(map(trace, snakemake.params.settings["executions"]), snakemake.output)
