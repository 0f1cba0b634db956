"""Rule ``sm_kernel``: replay the machine code of one kernel on one SM of every GPU."""

from functools import partial

from pipeline import runlog, store
from pipeline.compiled.twin import Twin
from pipeline.listing_files import read_programs
from pipeline.timing.replay import instruction_stalls, replay, sm_predictions

runlog.start(snakemake.log[0])

settings, output = snakemake.params.settings, snakemake.output
gpus, programs = store.read(snakemake.input.gpus), read_programs(snakemake.input.programs)
replays = replay(programs, Twin(**snakemake.params.twin), gpus, **settings)
store.write(sm_predictions(replays), output.predictions, snakemake.params)
shown = instruction_stalls(replays, read_programs(snakemake.input.shown))
list(map(partial(store.write, made_by=snakemake.params), shown, output.instructions))
