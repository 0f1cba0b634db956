"""Rule ``own_cuda_page``: the page of one compiled kernel of the user's own, in each language."""

from pipeline import runlog, store
from pipeline.artifacts.cuda_page import Launched, make_pages
from pipeline.counting.own_cuda import read_own
from pipeline.listing_files import read_sources

runlog.start(snakemake.log[0])

given, own = snakemake.input, read_own(snakemake.params.kernel)
alone = map(store.read, (given.counts, given.predictions, given.gpus))
instructions = list(map(store.read, given.instructions))
stalls = list(map(store.read, given.stalls))
sources, replays = read_sources(given.sources), store.read(given.replays)
launched = Launched(own, *alone, instructions, sources, replays, stalls)
make_pages(launched, snakemake.output)
