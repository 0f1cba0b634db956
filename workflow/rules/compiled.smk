# What machine code does: every instruction of the CUDA twins, from the listings in data/sass.


# One job per kernel, for all architectures.
rule compiled_kernel:
    input:
        expand("data/sass/{{kernel}}_{arch}.sass", arch=SETTINGS.compiled.architectures),
    output:
        counts=directory("results/simulated/compiled/{kernel}.zarr"),
        instructions=[
            directory(f"results/compiled/{{kernel}}_{arch}.zarr")
            for arch in SETTINGS.compiled.architectures
        ],
    log:
        "logs/compiled/{kernel}.log",
    conda:
        "../../environment.yml"
    params:
        twin=lambda wildcards: parameters.twin_values(wildcards.kernel),
        settings=dict(
            sizes=SETTINGS.extrapolation.sizes,
            shown=SETTINGS.compiled.n,
        ),
        code=code_digest("workflow/scripts/compiled_kernel.py"),
        versions=library_versions(),
    script:
        "../scripts/compiled_kernel.py"


rule compiled_counts:
    input:
        expand("results/simulated/compiled/{kernel}.zarr", kernel=SETTINGS.kernels),
    output:
        directory("results/compiled_counts.zarr"),
    log:
        "logs/compiled_counts.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/compiled_counts.py"),
        versions=library_versions(),
    script:
        "../scripts/compiled_counts.py"


rule compiled_predictions:
    input:
        counts="results/compiled_counts.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/compiled_predictions.zarr"),
    log:
        "logs/compiled_predictions.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/compiled_predictions.py"),
        versions=library_versions(),
    script:
        "../scripts/compiled_predictions.py"
