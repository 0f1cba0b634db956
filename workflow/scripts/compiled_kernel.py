"""Rule ``compiled_kernel``: count what the machine code of one kernel does."""

from functools import partial

from pipeline import runlog, store
from pipeline.compiled.twin import Twin
from pipeline.counting.compiled_counts import compiled_counts, counted_at, instructions_of
from pipeline.listing_files import read_programs

runlog.start(snakemake.log[0])

launched, settings = Twin(**snakemake.params.twin), snakemake.params.settings
sizes, shown_at = settings["sizes"], launched.next_size(settings["shown"])
counted = counted_at(read_programs(snakemake.input), launched, [*sizes, shown_at])
shown = instructions_of(counted, shown_at)
list(map(partial(store.write, made_by=snakemake.params), shown, snakemake.output.instructions))
store.write(compiled_counts(counted, launched, sizes), snakemake.output.counts, snakemake.params)
