"""Rule ``megakernel``: one decode step instruction by instruction, on every GPU."""

from pipeline import runlog, store
from pipeline.decode import plain
from pipeline.decode.megakernel import Job, simulate

runlog.start(snakemake.log[0])

figures = store.read(snakemake.input.figures)
gpus = store.read(snakemake.input.gpus)
workload = plain.workload(snakemake.params.workload)
job = Job(workload, **snakemake.params.settings)
store.write(simulate(job, figures, gpus["dram_bandwidth"]), snakemake.output[0], snakemake.params)
