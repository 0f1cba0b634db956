# Decoding held against measurements, and the megakernel instruction by instruction.


rule decode_measured:
    input:
        "data/measured/decode.csv",
    output:
        directory("results/decode/measured.zarr"),
    log:
        "logs/decode/measured.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/decode_measured.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_measured.py"
