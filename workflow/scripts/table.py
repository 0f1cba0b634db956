"""Rule ``table``: the table of one artifact, in every format."""

from importlib import import_module

from pipeline import runlog, store
from pipeline.artifacts.make import make_table

runlog.start(snakemake.log[0])

artifact = import_module(snakemake.params.module)
datasets = dict(zip(snakemake.input.keys(), map(store.read, snakemake.input), strict=True))
make_table(artifact, datasets, snakemake.params.settings, snakemake.output)
