"""Rule ``sm_measured``: the replays of all published rates in one dataset."""

from pipeline import runlog, store
from pipeline.timing.replay_measured import gather_measured

runlog.start(snakemake.log[0])

replays = list(map(store.read, snakemake.input.replays))
together = gather_measured(replays, store.read(snakemake.input.measured))
store.write(together, snakemake.output[0], snakemake.params)
