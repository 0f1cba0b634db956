"""Rule ``artifact``: the table and the figure of one artifact, in every format and language."""

from importlib import import_module

from pipeline import runlog, store
from pipeline.artifacts.make import make_artifact

runlog.start(snakemake.log[0])

artifact = import_module(snakemake.params.module)
datasets = dict(zip(snakemake.input.keys(), map(store.read, snakemake.input), strict=True))
languages = list(snakemake.params.words)
make_artifact(artifact, datasets, snakemake.params.settings, languages, snakemake.output)
