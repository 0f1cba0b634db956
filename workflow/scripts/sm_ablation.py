"""Rule ``sm_ablation``: published rates replayed with each mechanism left out in turn."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.listing_files import program_finder
from pipeline.measured.replay_study import replay_study
from pipeline.published_listings import published_finder
from pipeline.timing.replay_measured import ablate

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
find = program_finder(snakemake.input.listings), published_finder(snakemake.input.published)
study = replay_study(Path(snakemake.input.study))
store.write(
    ablate(measured, gpus, *find, study, **snakemake.params.settings),
    snakemake.output[0],
    snakemake.params,
)
