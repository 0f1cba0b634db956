"""Rule ``sm_tiles``: tiles of one kernel, timed by the roofline and by a replay."""

from pipeline import runlog, store
from pipeline.counting.whole_tiles import WholeTiles
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import read_tilings
from pipeline.timing.replay_tiles import replay_tiles

runlog.start(snakemake.log[0])

settings, gpus = snakemake.params.settings, sm_gpus_of(snakemake.params.sheets)
measured = store.read(snakemake.input.measured)
tilings = read_tilings(snakemake.input.tilings)
count = WholeTiles(settings["wavefronts"]).square
rates = replay_tiles(tilings, gpus, measured, settings["gpu"], settings["n"], count)
store.write(rates, snakemake.output[0], snakemake.params)
