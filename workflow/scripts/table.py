"""Rule ``table``: the table of one artifact, in every format and language."""

from importlib import import_module

from pipeline import runlog, store
from pipeline.artifacts.make import make_tables

runlog.start(snakemake.log[0])

artifact = import_module(snakemake.params.module)
datasets = dict(zip(snakemake.input.keys(), map(store.read, snakemake.input), strict=True))
languages = list(snakemake.params.words)
make_tables(artifact, datasets, snakemake.params.settings, languages, snakemake.output)
