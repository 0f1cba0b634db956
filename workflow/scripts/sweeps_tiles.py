"""Rule ``sweeps_tiles``: every tile of the tiled kernels, predicted on every GPU."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.region_store import sweep_to
from pipeline.sweep.execute import Limits
from pipeline.sweep.tile_points import TileSpace
from pipeline.sweep.tiles import tile_sweep

terminal = runlog.start(snakemake.log[0])

gpus, counts, params = snakemake.input.gpus, snakemake.input.counts, snakemake.params
sweep = tile_sweep(
    store.read(gpus),
    store.open_lazily(counts),
    TypeAdapter(TileSpace).validate_python(params.settings),
)
depends_on = [*map(store.content, (gpus, counts)), params.settings, params.code, params.versions]
limits = Limits.of(snakemake.resources, snakemake.threads)
sweep_to(snakemake.output[0], sweep, depends_on, limits, terminal, params)
