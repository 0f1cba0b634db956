# What one tensor-core instruction asks of its lanes, and of shared memory.


rule fragments:
    output:
        directory("results/tensor_core/fragments.zarr"),
    log:
        "logs/fragments.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/fragments.py"),
        versions=library_versions(),
    script:
        "../scripts/fragments.py"


rule ldmatrix:
    output:
        directory("results/tensor_core/ldmatrix.zarr"),
    log:
        "logs/ldmatrix.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/ldmatrix.py"),
        versions=library_versions(),
    script:
        "../scripts/ldmatrix.py"
