# Published measurements, and what the model makes of the same.


rule measured:
    input:
        "data/measured/sgemm_ladder.csv",
    output:
        directory("results/measured.zarr"),
    log:
        "logs/measured.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/measured.py"),
        versions=library_versions(),
    script:
        "../scripts/measured.py"


# Not from counts.zarr: the measured kernels read shared memory as the compiler made them, at a size
# of their own, and hardware has a rule of its own.
rule counters_measured:
    input:
        measured="data/measured/nsight_counters_a100.csv",
        gpus="results/gpu_limits.zarr",
    output:
        directory("results/counters_measured.zarr"),
    log:
        "logs/counters_measured.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/counters_measured.py"),
        versions=library_versions(),
    script:
        "../scripts/counters_measured.py"
