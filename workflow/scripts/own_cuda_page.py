"""Rule ``own_cuda_page``: the page of one compiled kernel of the user's own."""

from pipeline import runlog, store
from pipeline.artifacts.cuda_page import cuda_page
from pipeline.counting.own_cuda import read_own
from pipeline.listing_files import read_sources
from pipeline.render.profile import render_profile

runlog.start(snakemake.log[0])

own = read_own(snakemake.params.kernel)
counts, predictions, gpus = map(
    store.read,
    (snakemake.input.counts, snakemake.input.predictions, snakemake.input.gpus),
)
instructions = list(map(store.read, snakemake.input.instructions))
sources = read_sources(snakemake.input.sources)
page = cuda_page(own, counts, predictions, gpus, instructions, sources)
render_profile(page, snakemake.output[0])
