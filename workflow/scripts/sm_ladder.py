"""Rule ``sm_ladder``: replay the machine code of the ladder on one SM of the GPUs it is for."""

from functools import partial

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.compiled.twin import Twin
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import read_programs
from pipeline.timing.replay import instruction_stalls, replay, sm_predictions

runlog.start(snakemake.log[0])

twins = TypeAdapter(list[Twin]).validate_python(snakemake.params.twins)
replays = replay(
    read_programs(snakemake.input),
    twins,
    sm_gpus_of(snakemake.params.sheets),
    **snakemake.params.settings,
)
found = sm_predictions(replays), *instruction_stalls(replays)
list(map(partial(store.write, made_by=snakemake.params), found, snakemake.output))
