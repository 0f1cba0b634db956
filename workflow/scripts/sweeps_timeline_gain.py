"""Rule ``sweeps_timeline_gain``: by how much one way to launch beats another."""

import dask

from pipeline import runlog, store
from pipeline.sweep.timeline_gain import timeline_gain

runlog.start(snakemake.log[0])
dask.config.set(num_workers=snakemake.threads)

times = store.open_lazily(snakemake.input.times)
store.write(
    timeline_gain(times, **snakemake.params.settings), snakemake.output[0], snakemake.params
)
