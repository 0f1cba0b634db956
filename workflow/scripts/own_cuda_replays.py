"""Rule ``own_cuda_replays``: replays of all compiled kernels of the user's own together."""

from pipeline import runlog, store
from pipeline.timing.replay_launch import gather_replays

runlog.start(snakemake.log[0])

replays = list(map(store.read, snakemake.input.replays))
gpus = store.read(snakemake.input.gpus)
together = gather_replays(replays, snakemake.params.labels, gpus)
store.write(together, snakemake.output[0], snakemake.params)
