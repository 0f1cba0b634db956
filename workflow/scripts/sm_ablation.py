"""Rule ``sm_ablation``: published rates without each mechanism of the replay, beside a study."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.measured.replay_study import replay_study
from pipeline.timing.replay_measured import gather_ablation

runlog.start(snakemake.log[0])

replays = list(map(store.read, snakemake.input.replays))
study = replay_study(Path(snakemake.input.study))
together = gather_ablation(replays, store.read(snakemake.input.measured), study)
store.write(together, snakemake.output[0], snakemake.params)
