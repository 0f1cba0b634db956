"""Rule ``own_cuda_run``: launch one compiled kernel of the user's own, for one architecture."""

from functools import partial

from pipeline import runlog, store
from pipeline.counting.own_cuda import read_own
from pipeline.counting.own_cuda_run import run_own_cuda
from pipeline.listing_files import compiled
from pipeline.user_file import load_function

runlog.start(snakemake.log[0])

params = snakemake.params
own, settings = read_own(params.kernel), params.settings
program = partial(compiled, own.file, settings["architecture"], own.entry)
found = run_own_cuda(own, program, load_function, settings["architecture"], settings["seed"])
list(map(partial(store.write, made_by=params), found, snakemake.output))
