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


# Not from predictions.zarr: published rates come with tiles of their own.
rule validation:
    input:
        measured="results/measured.zarr",
        gpus="results/gpus.zarr",
        compiled="results/compiled_predictions.zarr",
        replayed="results/sm_measured.zarr",
    output:
        directory("results/validation.zarr"),
    log:
        "logs/validation.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(rule=SETTINGS.counting.wavefronts),
        code=code_digest("workflow/scripts/validation.py"),
        versions=library_versions(),
    script:
        "../scripts/validation.py"
