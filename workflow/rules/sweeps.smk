# Many points at once, on dask.
#
# Where a sweep runs and how much it may take changes no result: these stand in threads and
# resources, which Snakemake does not compare.


# Apart from the predictions: a new clock or bandwidth changes those, and no count.
rule sweeps_tile_counts:
    input:
        gpus="results/gpu_limits.zarr",
    output:
        directory("results/simulated/sweeps/tiles.zarr"),
    log:
        "logs/sweeps/tile_counts.log",
    conda:
        "../../environment.yml"
    threads: parameters.tile_threads(SETTINGS.sweeps.execution)
    resources:
        **parameters.sweep_resources(SETTINGS.sweeps, os.environ),
    params:
        settings=parameters.tile_space(
            "tiles",
            parameters.TILED,
            SETTINGS.sweeps.tiles,
            SETTINGS.counting.wavefronts,
        ),
        code=code_digest("workflow/scripts/sweeps_tile_counts.py"),
        versions=library_versions("dask", "distributed"),
    script:
        "../scripts/sweeps_tile_counts.py"


use rule sweeps_tile_counts as sweeps_warp_tile_counts with:
    output:
        directory("results/simulated/sweeps/warp_tiles.zarr"),
    log:
        "logs/sweeps/warp_tile_counts.log",
    params:
        settings=parameters.tile_space(
            "warp tiles",
            parameters.WARP_TILED,
            SETTINGS.sweeps.warp_tiles,
            SETTINGS.counting.wavefronts,
        ),
        code=code_digest("workflow/scripts/sweeps_tile_counts.py"),
        versions=library_versions("dask", "distributed"),


rule sweeps_tiles:
    input:
        counts="results/simulated/sweeps/tiles.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/sweeps/tiles.zarr"),
    log:
        "logs/sweeps/tiles.log",
    conda:
        "../../environment.yml"
    threads: parameters.tile_threads(SETTINGS.sweeps.execution)
    resources:
        **parameters.sweep_resources(SETTINGS.sweeps, os.environ),
    params:
        settings=parameters.tile_space(
            "tiles",
            parameters.TILED,
            SETTINGS.sweeps.tiles,
            SETTINGS.counting.wavefronts,
        ),
        code=code_digest("workflow/scripts/sweeps_tiles.py"),
        versions=library_versions("dask", "distributed"),
    script:
        "../scripts/sweeps_tiles.py"


use rule sweeps_tiles as sweeps_warp_tiles with:
    input:
        counts="results/simulated/sweeps/warp_tiles.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/sweeps/warp_tiles.zarr"),
    log:
        "logs/sweeps/warp_tiles.log",
    params:
        settings=parameters.tile_space(
            "warp tiles",
            parameters.WARP_TILED,
            SETTINGS.sweeps.warp_tiles,
            SETTINGS.counting.wavefronts,
        ),
        code=code_digest("workflow/scripts/sweeps_tiles.py"),
        versions=library_versions("dask", "distributed"),


rule sweeps_best_tiles:
    input:
        tiles="results/sweeps/tiles.zarr",
        measured="results/measured.zarr",
    output:
        directory("results/sweeps/best_tiles.zarr"),
    log:
        "logs/sweeps/best_tiles.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/sweeps_best_tiles.py"),
        versions=library_versions("pandas"),
    script:
        "../scripts/sweeps_best_tiles.py"


use rule sweeps_best_tiles as sweeps_best_warp_tiles with:
    input:
        tiles="results/sweeps/warp_tiles.zarr",
        measured="results/measured.zarr",
    output:
        directory("results/sweeps/best_warp_tiles.zarr"),
    log:
        "logs/sweeps/best_warp_tiles.log",


# The space has contexts and batches of its own, so those of the workload stand still.
rule sweeps_timeline:
    output:
        directory("results/sweeps/timeline.zarr"),
    log:
        "logs/sweeps/timeline.log",
    conda:
        "../../environment.yml"
    threads: SETTINGS.sweeps.execution.threads
    resources:
        **parameters.sweep_resources(SETTINGS.sweeps, os.environ),
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            [SETTINGS.lecture11.model],
            decode_parameters.execution_plans(SETTINGS.decode),
        )
        | dict(context=1, batch=1),
        executions=decode_parameters.entries(SETTINGS.decode.executions),
        gpus=side_by_side(DECODE_GPUS, ["sm_count", "dram_bandwidth"]),
        settings=parameters.timeline_space(SETTINGS.sweeps.timeline),
        code=code_digest("workflow/scripts/sweeps_timeline.py"),
        versions=library_versions("dask", "distributed"),
    script:
        "../scripts/sweeps_timeline.py"


rule sweeps_timeline_gain:
    input:
        times="results/sweeps/timeline.zarr",
    output:
        directory("results/sweeps/timeline_gain.zarr"),
    log:
        "logs/sweeps/timeline_gain.log",
    conda:
        "../../environment.yml"
    threads: SETTINGS.sweeps.execution.threads
    params:
        settings=dict(
            reference=SETTINGS.lecture11.reference,
            compared=SETTINGS.lecture11.compared,
        ),
        code=code_digest("workflow/scripts/sweeps_timeline_gain.py"),
        versions=library_versions("dask"),
    script:
        "../scripts/sweeps_timeline_gain.py"
