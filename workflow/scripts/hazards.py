"""Rule ``hazards``: races of the shared-memory kernel with each barrier left out."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.counting.hazards import hazards
from pipeline.kernels.k03_smem import Options

runlog.start(snakemake.log[0])

variants = TypeAdapter(dict[str, Options]).validate_python(snakemake.params.variants)
result = hazards(variants, **snakemake.params.settings)
store.write(result, snakemake.output[0], snakemake.params)
