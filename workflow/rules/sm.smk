# Machine code replayed cycle by cycle on one SM: times, and where they go.


# A GPU without machine code gives way to the first that has some.
SHOWN_GPU = parameters.replayed_gpu(SETTINGS.lecture10.gpu, SHEETS)


TRACED = {
    kernel: arch
    for kernel in SETTINGS.kernels
    for arch in parameters.replayed_architectures(kernel, SHEETS, SHOWN_GPU)
}


# Apart from gpus.zarr: a figure that only the replay reads reaches nothing else.
rule sm_gpus:
    output:
        directory("results/sm_gpus.zarr"),
    log:
        "logs/sm_gpus.log",
    conda:
        "../../environment.yml"
    params:
        sheets=parameters.replay_values(SHEETS),
        code=code_digest("workflow/scripts/sm_gpus.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_gpus.py"


# One job per kernel, for all GPUs whose code there is.
rule sm_kernel:
    input:
        gpus="results/sm_gpus.zarr",
        programs=lambda wildcards: expand(
            "data/sass/{kernel}_{arch}.sass",
            kernel=wildcards.kernel,
            arch=parameters.replayed_architectures(wildcards.kernel, SHEETS),
        ),
        shown=expand(
            "data/sass/{{kernel}}_{arch}.sass", arch=SETTINGS.compiled.architectures
        ),
    output:
        predictions=directory("results/simulated/sm/{kernel}.zarr"),
        instructions=[
            directory(f"results/sm/{{kernel}}_{arch}.zarr")
            for arch in SETTINGS.compiled.architectures
        ],
    log:
        "logs/sm/{kernel}.log",
    conda:
        "../../environment.yml"
    params:
        twin=lambda wildcards: parameters.twin_values(wildcards.kernel),
        settings=dict(
            sizes=SETTINGS.replay.sizes,
            shown_n=SETTINGS.compiled.n,
        ),
        code=code_digest("workflow/scripts/sm_kernel.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_kernel.py"


rule sm_predictions:
    input:
        expand("results/simulated/sm/{kernel}.zarr", kernel=SETTINGS.kernels),
    output:
        directory("results/sm_predictions.zarr"),
    log:
        "logs/sm_predictions.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/sm_predictions.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_predictions.py"


rule sm_spans:
    input:
        gpus="results/sm_gpus.zarr",
        programs=[f"data/sass/{kernel}_{arch}.sass" for kernel, arch in TRACED.items()],
    output:
        directory("results/sm_spans.zarr"),
    log:
        "logs/sm_spans.log",
    conda:
        "../../environment.yml"
    params:
        twins=[parameters.twin_values(kernel) for kernel in SETTINGS.kernels],
        settings=dict(
            gpu=SHOWN_GPU,
            n=SETTINGS.compiled.n,
            first_cycle=SETTINGS.replay.first_cycle,
            cycles=SETTINGS.replay.cycles,
        ),
        code=code_digest("workflow/scripts/sm_spans.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_spans.py"


rule sm_traces:
    input:
        "results/sm_spans.zarr",
    output:
        expand("results/lecture10/traces/{kernel}.json", kernel=TRACED),
    log:
        "logs/lecture10/traces.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(kernels=list(TRACED)),
        code=code_digest("workflow/scripts/sm_traces.py"),
        versions=library_versions("pandas"),
    script:
        "../scripts/sm_traces.py"


# Whatever tiles were measured: the job reads the listings that it needs.
rule sm_measured:
    input:
        measured="results/measured.zarr",
        gpus="results/sm_gpus.zarr",
        tiles="data/sass/tiles.csv",
        listings=listing_files.listings_of(parameters.architectures(SHEETS)),
        published=published_listings(parameters.architectures(SHEETS)),
        codes="data/sass/published.csv",
    output:
        directory("results/sm_measured.zarr"),
    log:
        "logs/sm_measured.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/sm_measured.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_measured.py"


rule sm_ablation:
    input:
        measured="results/measured.zarr",
        study="data/measured/sm_ablation.csv",
        gpus="results/sm_gpus.zarr",
        tiles="data/sass/tiles.csv",
        listings=listing_files.listings_of(parameters.architectures(SHEETS)),
        published=published_listings(parameters.architectures(SHEETS)),
        codes="data/sass/published.csv",
    output:
        directory("results/sm_ablation.zarr"),
    log:
        "logs/sm_ablation.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(left_out=SETTINGS.replay.left_out),
        code=code_digest("workflow/scripts/sm_ablation.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_ablation.py"


# The tilings for which there is a listing, on the first GPU that runs them.
rule sm_tiles:
    input:
        measured="results/measured.zarr",
        gpus="results/gpus.zarr",
        sm_gpus="results/sm_gpus.zarr",
        tilings=listing_files.tilings_of("k10_warptiled", "sm_86"),
    output:
        directory("results/sm_tiles.zarr"),
    log:
        "logs/sm_tiles.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(
            gpu=parameters.gpu_with("sm_86", SHEETS),
            n=SETTINGS.sweeps.warp_tiles.n,
            wavefronts=SETTINGS.counting.wavefronts,
        ),
        code=code_digest("workflow/scripts/sm_tiles.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_tiles.py"


rule sm_gemvs:
    input:
        measured="results/decode/measured.zarr",
        gpus="results/sm_gpus.zarr",
        programs=expand("data/sass/gemv_bf16_{arch}.sass", arch=GEMV_ARCHITECTURES),
    output:
        directory("results/sm_gemvs.zarr"),
    log:
        "logs/sm_gemvs.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/sm_gemvs.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_gemvs.py"
