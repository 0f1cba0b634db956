"""Rule ``decode_compared``: models of decoding against published measurements."""

from pipeline import runlog, store
from pipeline.decode import plain
from pipeline.decode.compare import Known, compare

runlog.start(snakemake.log[0])

measured, gpus = map(store.read, (snakemake.input.measured, snakemake.input.gpus))
costs = plain.gpus(snakemake.params.gpus)
workload = plain.workload(snakemake.params.workload)
executions = plain.executions(snakemake.params.executions)
settings = snakemake.params.settings
assumptions = plain.assumptions(settings["assumptions"])
ways = (executions[settings["kernels"]], executions[settings["megakernel"]])
store.write(
    compare(Known(measured, gpus, costs, workload, *ways, assumptions)),
    snakemake.output[0],
    snakemake.params,
)
