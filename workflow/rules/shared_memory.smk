# What access patterns to shared memory cost, and what was published about it.


rule claimed_reads:
    input:
        "data/measured/smem_reads.csv",
    output:
        directory("results/claimed_reads.zarr"),
    log:
        "logs/claimed_reads.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/claimed_reads.py"),
        versions=library_versions(),
    script:
        "../scripts/claimed_reads.py"


# Patterns of the lecture: they depend on no setting.
rule bank_patterns:
    output:
        directory("results/bank_patterns.zarr"),
    log:
        "logs/bank_patterns.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/bank_patterns.py"),
        versions=library_versions(),
    script:
        "../scripts/bank_patterns.py"
