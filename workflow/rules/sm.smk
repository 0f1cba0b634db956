# Machine code replayed cycle by cycle on one SM: times, and where they go.


# A GPU without machine code gives way to the first that has some.
SHOWN_GPU = parameters.replayed_gpu(SETTINGS.lecture10.gpu, SHEETS)


TRACED = {
    kernel: arch
    for kernel in SETTINGS.kernels
    for arch in parameters.replayed_architectures(kernel, SHEETS, SHOWN_GPU)
}


# A job replays what runs on the GPUs of one architecture, which share code and traces, and takes the
# figures of no other GPU.
REPLAYED = list(
    dict.fromkeys([*parameters.architectures(SHEETS), *SETTINGS.compiled.architectures])
)

# The first GPU that runs the tilings for which there is a listing.
TILED_GPU = parameters.gpu_with("sm_86", SHEETS)


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


rule sm_ladder:
    input:
        lambda wildcards: expand(
            "data/sass/{kernel}_{arch}.sass",
            kernel=parameters.with_code(wildcards.arch, SETTINGS.kernels),
            arch=wildcards.arch,
        ),
    output:
        directory("results/simulated/sm_ladder/{arch}.zarr"),
    log:
        "logs/sm_ladder/{arch}.log",
    conda:
        "../../environment.yml"
    params:
        sheets=lambda wildcards: parameters.replay_values(
            parameters.of_architectures([wildcards.arch], SHEETS)
        ),
        twins=[parameters.twin_values(kernel) for kernel in SETTINGS.kernels],
        settings=dict(
            sizes=SETTINGS.replay.sizes,
            shown_n=SETTINGS.compiled.n,
        ),
        code=code_digest("workflow/scripts/sm_ladder.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_ladder.py"


# The same job; of these architectures every instruction is shown as well.
use rule sm_ladder as sm_ladder_shown with:
    output:
        directory("results/simulated/sm_ladder/{arch}.zarr"),
        directory(expand("results/sm/{kernel}_{{arch}}.zarr", kernel=SETTINGS.kernels)),
    wildcard_constraints:
        arch="|".join(SETTINGS.compiled.architectures),


ruleorder: sm_ladder_shown > sm_ladder


rule sm_predictions:
    input:
        expand("results/simulated/sm_ladder/{arch}.zarr", arch=REPLAYED),
    output:
        directory("results/sm_predictions.zarr"),
    log:
        "logs/sm_predictions.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(gpus=list(parameters.able(SHEETS))),
        code=code_digest("workflow/scripts/sm_predictions.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_predictions.py"


rule sm_spans:
    input:
        [f"data/sass/{kernel}_{arch}.sass" for kernel, arch in TRACED.items()],
    output:
        directory("results/sm_spans.zarr"),
    log:
        "logs/sm_spans.log",
    conda:
        "../../environment.yml"
    params:
        sheets=parameters.replay_values(parameters.only(SHOWN_GPU, SHEETS)),
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
rule sm_rates:
    input:
        measured="results/measured.zarr",
        tiles="data/sass/tiles.csv",
        listings=lambda wildcards: listing_files.listings_of([wildcards.arch]),
        published=lambda wildcards: published_listings([wildcards.arch]),
        codes="data/sass/published.csv",
    output:
        directory("results/simulated/sm_rates/{arch}.zarr"),
    log:
        "logs/sm_rates/{arch}.log",
    conda:
        "../../environment.yml"
    params:
        sheets=lambda wildcards: parameters.replay_values(
            parameters.of_architectures([wildcards.arch], SHEETS)
        ),
        code=code_digest("workflow/scripts/sm_rates.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_rates.py"


rule sm_measured:
    input:
        measured="results/measured.zarr",
        replays=expand("results/simulated/sm_rates/{arch}.zarr", arch=REPLAYED),
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


# With sm_tiles the longest of the jobs: begun late, they would be the end of a run.
rule sm_switches:
    input:
        measured="results/measured.zarr",
        tiles="data/sass/tiles.csv",
        listings=lambda wildcards: listing_files.listings_of([wildcards.arch]),
        published=lambda wildcards: published_listings([wildcards.arch]),
        codes="data/sass/published.csv",
    output:
        directory("results/simulated/sm_switches/{arch}.zarr"),
    log:
        "logs/sm_switches/{arch}.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        sheets=lambda wildcards: parameters.replay_values(
            parameters.of_architectures([wildcards.arch], SHEETS)
        ),
        settings=dict(left_out=SETTINGS.replay.left_out),
        code=code_digest("workflow/scripts/sm_switches.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_switches.py"


rule sm_ablation:
    input:
        measured="results/measured.zarr",
        study="data/measured/sm_ablation.csv",
        replays=expand("results/simulated/sm_switches/{arch}.zarr", arch=REPLAYED),
    output:
        directory("results/sm_ablation.zarr"),
    log:
        "logs/sm_ablation.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/sm_ablation.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_ablation.py"


rule sm_tiles:
    input:
        measured="results/measured.zarr",
        tilings=listing_files.tilings_of("k10_warptiled", "sm_86"),
    output:
        directory("results/sm_tiles.zarr"),
    log:
        "logs/sm_tiles.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        sheets=parameters.replay_values(parameters.only(TILED_GPU, SHEETS)),
        settings=dict(
            gpu=TILED_GPU,
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
        programs=expand("data/sass/gemv_bf16_{arch}.sass", arch=GEMV_ARCHITECTURES),
    output:
        directory("results/sm_gemvs.zarr"),
    log:
        "logs/sm_gemvs.log",
    conda:
        "../../environment.yml"
    params:
        sheets=parameters.replay_values(
            parameters.of_architectures(GEMV_ARCHITECTURES, SHEETS)
        ),
        code=code_digest("workflow/scripts/sm_gemvs.py"),
        versions=library_versions(),
    script:
        "../scripts/sm_gemvs.py"
