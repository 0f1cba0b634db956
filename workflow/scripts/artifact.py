"""Rule ``artifact``: the table and the figure of one artifact, in every format and language."""

import gc
from importlib import import_module

from pipeline import runlog, store
from pipeline.artifacts.make import make_tables
from pipeline.artifacts.make_figure import make_figures

runlog.start(snakemake.log[0])
# A figure is thousands of objects that live until it is drawn, and so until this job ends.
gc.disable()

params = snakemake.params
artifact = import_module(params.module)
datasets = dict(zip(snakemake.input.keys(), map(store.read, snakemake.input), strict=True))
told = make_tables(artifact, datasets, params.settings, list(params.words), snakemake.output)
make_figures(artifact, datasets, params.settings, snakemake.output, params, told)
