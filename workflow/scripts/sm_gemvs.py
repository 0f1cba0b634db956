"""Rule ``sm_gemvs``: published matrix-vector products, replayed."""

from pipeline import runlog, store
from pipeline.listing_files import read_programs
from pipeline.timing.replay_gemv import replay_gemvs

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
programs = read_programs(snakemake.input.programs)
store.write(replay_gemvs(programs, measured, gpus), snakemake.output[0], snakemake.params)
