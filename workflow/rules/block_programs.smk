# What Triton-style programs move and compute.


rule block_programs:
    output:
        directory("results/block_programs.zarr"),
    log:
        "logs/block_programs.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(
            sizes=SETTINGS.block_programs.sizes,
            seed=SETTINGS.block_programs.seed,
            tiles=dict(SETTINGS.block_programs.tiles),
        ),
        code=code_digest("workflow/scripts/block_programs.py"),
        versions=library_versions(),
    script:
        "../scripts/block_programs.py"
