# Kernels of the user's own: the stages of the ladder, in stores of their own, so that a kernel that
# fails keeps nothing of a lecture from being made.


wildcard_constraints:
    # Without such kernels nothing must match.
    own="|".join(SETTINGS.own_kernels) or "(?!)",


# What goes wrong is written down here, so that the other kernels go on; own_check turns it into an
# error.
rule own_simulate:
    output:
        directory("results/simulated/own/{own}.zarr"),
    log:
        "logs/own_simulate/{own}.log",
    conda:
        "../../environment.yml"
    params:
        kernel=lambda wildcards: parameters.own_kernel_values(SETTINGS.own_kernels)[
            wildcards.own
        ],
        settings=dict(
            sizes=SETTINGS.counting.sizes,
            held_out=SETTINGS.counting.held_out,
            seed=SETTINGS.counting.seed,
            rule=SETTINGS.counting.wavefronts,
        ),
        code=lambda wildcards: code_digest(
            "workflow/scripts/own_simulate.py",
            SETTINGS.own_kernels[wildcards.own].file,
        ),
        versions=lambda wildcards: library_versions(
            *imported_distributions(SETTINGS.own_kernels[wildcards.own].file)
        ),
    script:
        "../scripts/own_simulate.py"


rule own_check:
    input:
        counts="results/simulated/own/{own}.zarr",
        gpus="results/gpu_limits.zarr",
    output:
        "results/own/checks/{own}.txt",
    log:
        "logs/own_check/{own}.log",
    conda:
        "../../environment.yml"
    params:
        launches=lambda wildcards: parameters.own_launch_values(
            {wildcards.own: SETTINGS.own_kernels[wildcards.own]}
        ),
        code=code_digest("workflow/scripts/own_check.py"),
        versions=library_versions(),
    script:
        "../scripts/own_check.py"


rule own_counts:
    input:
        expand("results/simulated/own/{own}.zarr", own=SETTINGS.own_kernels),
    output:
        directory("results/own/counts.zarr"),
    log:
        "logs/own_counts.log",
    conda:
        "../../environment.yml"
    params:
        labels=parameters.own_labels(SETTINGS.own_kernels),
        code=code_digest("workflow/scripts/own_counts.py"),
        versions=library_versions(),
    script:
        "../scripts/own_counts.py"


# Without scaling per multiply-add: many kernels have none.
use rule extrapolation as own_extrapolation with:
    input:
        "results/own/counts.zarr",
    output:
        directory("results/own/extrapolation.zarr"),
    log:
        "logs/own_extrapolation.log",
    params:
        settings=dict(
            sizes=SETTINGS.extrapolation.sizes,
            held_out=SETTINGS.counting.held_out,
        ),
        code=code_digest("workflow/scripts/extrapolation.py"),
        versions=library_versions(),


# From the counts as well: shared memory is what the kernels declared when they ran.
rule own_occupancy:
    input:
        counts="results/own/counts.zarr",
        gpus="results/gpu_limits.zarr",
    output:
        directory("results/own/occupancy.zarr"),
    log:
        "logs/own_occupancy.log",
    conda:
        "../../environment.yml"
    params:
        launches=parameters.own_launch_values(SETTINGS.own_kernels),
        code=code_digest("workflow/scripts/own_occupancy.py"),
        versions=library_versions(),
    script:
        "../scripts/own_occupancy.py"


use rule predictions as own_predictions with:
    input:
        counts="results/own/extrapolation.zarr",
        occupancy="results/own/occupancy.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/own/predictions.zarr"),
    log:
        "logs/own_predictions.log",
