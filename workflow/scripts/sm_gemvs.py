"""Rule ``sm_gemvs``: published matrix-vector products, replayed."""

from pipeline import runlog, store
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import read_programs
from pipeline.timing.replay_gemv import replay_gemvs

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = sm_gpus_of(snakemake.params.sheets)
programs = read_programs(snakemake.input.programs)
store.write(replay_gemvs(programs, measured, gpus), snakemake.output[0], snakemake.params)
