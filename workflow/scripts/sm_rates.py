"""Rule ``sm_rates``: replays of rates published for one architecture, with the tiles measured."""

from pipeline import runlog, store
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import program_finder
from pipeline.published_listings import published_finder
from pipeline.timing.replay_measured import replay_measured

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = sm_gpus_of(snakemake.params.sheets)
find = program_finder(snakemake.input.listings), published_finder(snakemake.input.published)
store.write(replay_measured(measured, gpus, *find), snakemake.output[0], snakemake.params)
