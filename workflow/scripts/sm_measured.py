"""Rule ``sm_measured``: replays of published rates, each with the tiles measured."""

from pipeline import runlog, store
from pipeline.listing_files import program_finder
from pipeline.published_listings import published_finder
from pipeline.timing.replay_measured import replay_measured

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
find = program_finder(snakemake.input.listings)
published = published_finder(snakemake.input.published)
store.write(replay_measured(measured, gpus, find, published), snakemake.output[0], snakemake.params)
