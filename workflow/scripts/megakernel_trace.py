"""Rule ``megakernel_trace``: every instruction of one decode step with its moments."""

from pipeline import runlog, store
from pipeline.decode import plain
from pipeline.decode.megakernel import Job, trace

runlog.start(snakemake.log[0])

figures = store.read(snakemake.input.figures)
workload = plain.workload(snakemake.params.workload)
settings = snakemake.params.settings
job = Job(workload, settings["model"], settings["plan"])
result = trace(job, figures.sel(gpu=settings["gpu"]), settings["assignment"])
store.write(result, snakemake.output[0], snakemake.params)
