"""Rule ``decode_spans``: the first layers of a step on a time axis, for every way to run it."""

from pipeline import runlog, store
from pipeline.decode import plain
from pipeline.decode.spans import spans

runlog.start(snakemake.log[0])

trace = store.read(snakemake.input[0])
settings = snakemake.params.settings
workload = plain.workload(snakemake.params.workload)
executions = plain.executions(snakemake.params.executions)
gpu = plain.gpus(snakemake.params.gpus)
assumptions = plain.assumptions(settings["assumptions"])
result = spans(workload, executions, gpu, assumptions, trace, settings["layers"])
store.write(result, snakemake.output[0], snakemake.params)
