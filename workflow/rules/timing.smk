# How long it would take, and what sets the time.


rule predictions:
    input:
        counts="results/extrapolation.zarr",
        occupancy="results/occupancy.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/predictions.zarr"),
    log:
        "logs/predictions.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/predictions.py"),
        versions=library_versions(),
    script:
        "../scripts/predictions.py"
