"""Rule ``sm_traces``: a span of cycles of each kernel as a trace."""

from functools import partial

from pipeline import runlog, store
from pipeline.artifacts.replay_traces import replay_trace
from pipeline.render.trace import render_traces

runlog.start(snakemake.log[0])

trace = partial(replay_trace, store.read(snakemake.input[0]))
render_traces(map(trace, snakemake.params.settings["kernels"]), snakemake.output)
