"""Rule ``sm_traces``: a span of cycles of each kernel as a trace."""

from pipeline import runlog, store
from pipeline.artifacts.replay_traces import make_traces

runlog.start(snakemake.log[0])

kernels = snakemake.params.settings["kernels"]
make_traces(store.read(snakemake.input[0]), kernels, snakemake.output)
