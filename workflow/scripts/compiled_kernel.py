"""Rule ``compiled_kernel``: count what the machine code of one kernel does."""

from functools import partial

from pipeline import runlog, store
from pipeline.compiled.twin import Twin
from pipeline.counting.compiled_counts import compiled_counts, instructions_of
from pipeline.listing_files import read_programs

runlog.start(snakemake.log[0])

launched = Twin(**snakemake.params.twin)
programs = read_programs(snakemake.input)
counts = compiled_counts(programs, launched, snakemake.params.settings["sizes"])
shown = instructions_of(programs, launched, snakemake.params.settings["shown"])
list(map(partial(store.write, made_by=snakemake.params), shown, snakemake.output.instructions))
store.write(counts, snakemake.output.counts, snakemake.params)
