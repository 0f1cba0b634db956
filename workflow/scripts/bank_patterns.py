"""Rule ``bank_patterns``: wavefronts of access patterns to shared memory."""

from pipeline import runlog, store
from pipeline.counting.bank_patterns import bank_patterns

runlog.start(snakemake.log[0])

store.write(bank_patterns(), snakemake.output[0], snakemake.params)
