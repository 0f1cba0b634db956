"""Rule ``sm_switches``: rates published for one architecture, replayed without each mechanism."""

from pipeline import runlog, store
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import program_finder
from pipeline.published_listings import published_finder
from pipeline.timing.replay_measured import ablate

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = sm_gpus_of(snakemake.params.sheets)
find = program_finder(snakemake.input.listings), published_finder(snakemake.input.published)
found = ablate(measured, gpus, *find, **snakemake.params.settings)
store.write(found, snakemake.output[0], snakemake.params)
