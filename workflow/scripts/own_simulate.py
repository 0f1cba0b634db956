"""Rule ``own_simulate``: check and count one kernel of the user's own."""

from functools import partial

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.counting.own_kernels import simulate_own
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.user_file import load

runlog.start(snakemake.log[0])

kernel = TypeAdapter(OwnKernel).validate_python(snakemake.params.kernel)
counts = simulate_own(kernel, partial(load, kernel), **snakemake.params.settings)
store.write(counts, snakemake.output[0], snakemake.params)
