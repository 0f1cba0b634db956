"""Rule ``claims``: what the lectures say about their results, and whether it holds."""

from pipeline import runlog, store
from pipeline.claims.catalog import CLAIMS
from pipeline.claims.judge import judge
from pipeline.claims.report import write_claims

runlog.start(snakemake.log[0])

datasets = dict(zip(snakemake.input.keys(), map(store.read, snakemake.input), strict=True))
judged = judge(CLAIMS, datasets, snakemake.params.settings)
write_claims(judged, snakemake.output)
