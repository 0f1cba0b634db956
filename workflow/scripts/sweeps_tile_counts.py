"""Rule ``sweeps_tile_counts``: what every tile of the tiled kernels does, counted exactly."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.region_store import sweep_to
from pipeline.sweep.execute import Limits
from pipeline.sweep.tile_counts import count_sweep
from pipeline.sweep.tile_points import TileSpace

terminal = runlog.start(snakemake.log[0])

gpus, params = store.read(snakemake.input.gpus), snakemake.params
sweep = count_sweep(gpus, TypeAdapter(TileSpace).validate_python(params.settings))
depends_on = [gpus, params.settings, params.code, params.versions]
limits = Limits.of(snakemake.resources, snakemake.threads)
sweep_to(snakemake.output[0], sweep, depends_on, limits, terminal, params)
