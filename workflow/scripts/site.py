"""Rule ``site``: the reading copy, a folder of pages."""

from pipeline import runlog, store
from pipeline.site.build import Contents, site
from pipeline.site.folder import publish_folder
from pipeline.site.material import read_claims, read_material
from pipeline.site.tile_explorer import SHOWN

runlog.start(snakemake.log[0])

contents = Contents(
    lectures=read_material(snakemake.input.artifacts, snakemake.params.settings["lectures"]),
    claims=read_claims(snakemake.input.claims),
    gpus=store.read(snakemake.input.gpus),
    tiles=store.read(snakemake.input.tiles, SHOWN),
    warp_tiles=store.read(snakemake.input.warp_tiles, SHOWN),
    timelines=store.read(snakemake.input.timelines),
)
publish_folder(site(contents, snakemake.params.settings["languages"]), snakemake.output[0])
