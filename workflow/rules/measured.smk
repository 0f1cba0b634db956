# Published measurements, as a store.


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
