# What one tensor-core instruction asks of its lanes, and of shared memory.


rule tensor_core_fragments:
    output:
        directory("results/tensor_core/fragments.zarr"),
    log:
        "logs/tensor_core_fragments.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/tensor_core_fragments.py"),
        versions=library_versions(),
    script:
        "../scripts/tensor_core_fragments.py"


rule tensor_core_ldmatrix:
    output:
        directory("results/tensor_core/ldmatrix.zarr"),
    log:
        "logs/tensor_core_ldmatrix.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/tensor_core_ldmatrix.py"),
        versions=library_versions(),
    script:
        "../scripts/tensor_core_ldmatrix.py"
