# What the order of the blocks does to DRAM traffic.


rule tile_order:
    input:
        gpus="results/gpus.zarr",
    output:
        directory("results/tile_order.zarr"),
    log:
        "logs/tile_order.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(
            sizes=SETTINGS.tile_order.sizes,
            tile_m=SETTINGS.tile_order.tile_m,
            tile_n=SETTINGS.tile_order.tile_n,
            blocks_per_sm=SETTINGS.tile_order.blocks_per_sm,
            largest_group=SETTINGS.tile_order.largest_group,
        ),
        code=code_digest("workflow/scripts/tile_order.py"),
        versions=library_versions(),
    script:
        "../scripts/tile_order.py"
