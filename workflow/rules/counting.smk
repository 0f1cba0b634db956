# What the kernels do, counted at small sizes and carried to large ones.
#
# Snakemake compares the values of params without their names: two numbers that change places would
# go unnoticed. So numbers stand in settings, by name.


wildcard_constraints:
    kernel="|".join(SETTINGS.kernels),


# One job per kernel. The digest covers that kernel's module and not the list of all kernels, so an
# edit of one kernel counts that one again.
rule simulate:
    output:
        directory("results/simulated/{kernel}.zarr"),
    log:
        "logs/simulate/{kernel}.log",
    conda:
        "../../environment.yml"
    params:
        module=lambda wildcards: parameters.kernel_module(wildcards.kernel),
        options=lambda wildcards: SETTINGS.kernels[wildcards.kernel],
        settings=dict(
            sizes=SETTINGS.counting.sizes,
            seed=SETTINGS.counting.seed,
            rule=SETTINGS.counting.wavefronts,
        ),
        code=lambda wildcards: code_digest(
            "workflow/scripts/simulate.py", parameters.kernel_module(wildcards.kernel)
        ),
        versions=library_versions(),
    script:
        "../scripts/simulate.py"


rule counts:
    input:
        expand("results/simulated/{kernel}.zarr", kernel=SETTINGS.kernels),
    output:
        directory("results/counts.zarr"),
    log:
        "logs/counts.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/counts.py"),
        versions=library_versions(),
    script:
        "../scripts/counts.py"


rule hazards:
    output:
        directory("results/hazards.zarr"),
    log:
        "logs/hazards.log",
    conda:
        "../../environment.yml"
    params:
        variants=parameters.hazard_variants(SETTINGS.kernels),
        settings=dict(sizes=SETTINGS.hazards.sizes, seed=SETTINGS.counting.seed),
        code=code_digest("workflow/scripts/hazards.py"),
        versions=library_versions(),
    script:
        "../scripts/hazards.py"


rule extrapolation:
    input:
        "results/counts.zarr",
    output:
        directory("results/extrapolation.zarr"),
    log:
        "logs/extrapolation.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(
            sizes=SETTINGS.extrapolation.sizes,
            held_out=SETTINGS.counting.held_out,
            per_fma_base=SETTINGS.counting.per_fma_base,
        ),
        code=code_digest("workflow/scripts/extrapolation.py"),
        versions=library_versions(),
    script:
        "../scripts/extrapolation.py"
