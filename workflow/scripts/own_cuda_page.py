"""Rule ``own_cuda_page``: the page of one compiled kernel of the user's own, in each language."""

from pipeline import runlog, store
from pipeline.artifacts.cuda_page import Launched, make_pages
from pipeline.counting.own_cuda import read_own
from pipeline.listing_files import read_sources

runlog.start(snakemake.log[0])

own = read_own(snakemake.params.kernel)
counts, predictions, gpus = map(
    store.read,
    (snakemake.input.counts, snakemake.input.predictions, snakemake.input.gpus),
)
instructions = list(map(store.read, snakemake.input.instructions))
sources = read_sources(snakemake.input.sources)
launched = Launched(own, counts, predictions, gpus, instructions, sources)
make_pages(launched, snakemake.output)
