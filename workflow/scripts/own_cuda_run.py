"""Rule ``own_cuda_run``: launch one compiled kernel of the user's own, for one architecture."""

from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.counting.own_cuda import OwnCuda
from pipeline.counting.own_cuda_run import run_own_cuda
from pipeline.listing_files import compiled
from pipeline.user_file import load_function

runlog.start(snakemake.log[0])

own = TypeAdapter(OwnCuda).validate_python(snakemake.params.kernel)
settings = snakemake.params.settings
program = partial(compiled, Path(own.file), settings["architecture"], own.entry)
counts, instructions = run_own_cuda(
    own, program, load_function, settings["architecture"], settings["seed"]
)
store.write(instructions, snakemake.output.instructions)
store.write(counts, snakemake.output.counts)
