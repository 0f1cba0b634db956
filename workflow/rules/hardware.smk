# What the GPUs can do, and how many blocks they hold.


rule gpus:
    output:
        directory("results/gpus.zarr"),
    log:
        "logs/gpus.log",
    conda:
        "../../environment.yml"
    params:
        sheets=parameters.sheet_values(SHEETS),
        code=code_digest("workflow/scripts/gpus.py"),
        versions=library_versions(),
    script:
        "../scripts/gpus.py"


# Apart from gpus.zarr: a new clock or bandwidth changes that store, and no occupancy.
rule gpu_limits:
    output:
        directory("results/gpu_limits.zarr"),
    log:
        "logs/gpu_limits.log",
    conda:
        "../../environment.yml"
    params:
        gpus=parameters.occupancy_figures(SHEETS),
        code=code_digest("workflow/scripts/gpu_limits.py"),
        versions=library_versions(),
    script:
        "../scripts/gpu_limits.py"


rule occupancy:
    input:
        gpus="results/gpu_limits.zarr",
    output:
        directory("results/occupancy.zarr"),
    log:
        "logs/occupancy.log",
    conda:
        "../../environment.yml"
    params:
        launches=parameters.launch_values(SETTINGS.kernels),
        code=code_digest("workflow/scripts/occupancy.py"),
        versions=library_versions(),
    script:
        "../scripts/occupancy.py"
