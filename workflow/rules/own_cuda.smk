# Compiled kernels of the user's own: every architecture by itself, so that a launch that fails
# keeps nothing else from being made.


wildcard_constraints:
    # Without such kernels nothing must match.
    cuda="|".join(SETTINGS.own_cuda) or "(?!)",
    arch="sm_[0-9]+",


# What goes wrong is written down here; own_cuda_check turns it into an error.
rule own_cuda_run:
    input:
        lambda wildcards: own_cuda.sources(SETTINGS.own_cuda[wildcards.cuda].file),
    output:
        counts=directory("results/simulated/own/cuda/{cuda}_{arch}.zarr"),
        instructions=directory("results/own/cuda/{cuda}_{arch}.zarr"),
    log:
        "logs/own_cuda_run/{cuda}_{arch}.log",
    conda:
        "../../environment.yml"
    params:
        kernel=lambda wildcards: parameters.own_cuda_values(SETTINGS.own_cuda)[
            wildcards.cuda
        ],
        settings=lambda wildcards: dict(
            architecture=wildcards.arch,
            seed=SETTINGS.counting.seed,
            tools=parameters.tool_versions(SETTINGS.own_cuda[wildcards.cuda]),
        ),
        code=lambda wildcards: code_digest(
            "workflow/scripts/own_cuda_run.py",
            *own_cuda.function_files(SETTINGS.own_cuda[wildcards.cuda]),
        ),
        versions=lambda wildcards: library_versions(
            "ml-dtypes",
            *imported_distributions(
                *own_cuda.function_files(SETTINGS.own_cuda[wildcards.cuda])
            ),
        ),
    script:
        "../scripts/own_cuda_run.py"


rule own_cuda_check:
    input:
        lambda wildcards: expand(
            "results/simulated/own/cuda/{{cuda}}_{arch}.zarr",
            arch=SETTINGS.own_cuda[wildcards.cuda].architectures,
        ),
    output:
        "results/own/checks/{cuda}.txt",
    log:
        "logs/own_cuda_check/{cuda}.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/own_cuda_check.py"),
        versions=library_versions(),
    script:
        "../scripts/own_cuda_check.py"


rule own_cuda_counts:
    input:
        counts=expand(
            "results/simulated/own/cuda/{run}.zarr",
            run=artifact_plan.cuda_runs(SETTINGS.own_cuda),
        ),
        instructions=expand(
            "results/own/cuda/{run}.zarr",
            run=artifact_plan.cuda_runs(SETTINGS.own_cuda),
        ),
    output:
        counts=directory("results/own/cuda_counts.zarr"),
        lines=directory("results/own/cuda_lines.zarr"),
        memory=directory("results/own/cuda_memory.zarr"),
    log:
        "logs/own_cuda_counts.log",
    conda:
        "../../environment.yml"
    params:
        labels=parameters.own_cuda_labels(SETTINGS.own_cuda),
        code=code_digest("workflow/scripts/own_cuda_counts.py"),
        versions=library_versions(),
    script:
        "../scripts/own_cuda_counts.py"


rule own_cuda_predictions:
    input:
        counts="results/own/cuda_counts.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/own/cuda_predictions.zarr"),
    log:
        "logs/own_cuda_predictions.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/own_cuda_predictions.py"),
        versions=library_versions(),
    script:
        "../scripts/own_cuda_predictions.py"


# Apart from the counts: a figure that only replays read makes nothing else again.
rule own_cuda_replay:
    input:
        lambda wildcards: own_cuda.sources(SETTINGS.own_cuda[wildcards.cuda].file),
    output:
        predictions=directory("results/simulated/own/sm/{cuda}_{arch}.zarr"),
        instructions=directory("results/own/sm/{cuda}_{arch}.zarr"),
    log:
        "logs/own_cuda_replay/{cuda}_{arch}.log",
    conda:
        "../../environment.yml"
    params:
        sheets=lambda wildcards: parameters.replay_values(
            parameters.of_architectures([wildcards.arch], SHEETS)
        ),
        kernel=lambda wildcards: parameters.own_cuda_launches(SETTINGS.own_cuda)[
            wildcards.cuda
        ],
        settings=lambda wildcards: dict(
            architecture=wildcards.arch,
            tools=parameters.tool_versions(SETTINGS.own_cuda[wildcards.cuda]),
        ),
        code=code_digest("workflow/scripts/own_cuda_replay.py"),
        versions=library_versions("ml-dtypes"),
    script:
        "../scripts/own_cuda_replay.py"


rule own_cuda_replays:
    input:
        replays=expand(
            "results/simulated/own/sm/{run}.zarr",
            run=artifact_plan.cuda_runs(SETTINGS.own_cuda),
        ),
        gpus="results/sm_gpus.zarr",
    output:
        directory("results/own/cuda_replays.zarr"),
    log:
        "logs/own_cuda_replays.log",
    conda:
        "../../environment.yml"
    params:
        labels=parameters.own_cuda_labels(SETTINGS.own_cuda),
        code=code_digest("workflow/scripts/own_cuda_replays.py"),
        versions=library_versions(),
    script:
        "../scripts/own_cuda_replays.py"


rule own_cuda_page:
    input:
        sources=lambda wildcards: own_cuda.sources(
            SETTINGS.own_cuda[wildcards.cuda].file
        ),
        counts="results/own/cuda_counts.zarr",
        predictions="results/own/cuda_predictions.zarr",
        gpus="results/gpus.zarr",
        instructions=lambda wildcards: expand(
            "results/own/cuda/{{cuda}}_{arch}.zarr",
            arch=SETTINGS.own_cuda[wildcards.cuda].architectures,
        ),
        replays="results/own/cuda_replays.zarr",
        stalls=lambda wildcards: expand(
            "results/own/sm/{{cuda}}_{arch}.zarr",
            arch=SETTINGS.own_cuda[wildcards.cuda].architectures,
        ),
    output:
        artifact_plan.pages(SETTINGS),
    log:
        "logs/own_cuda_page/{cuda}.log",
    conda:
        "../../environment.yml"
    params:
        kernel=lambda wildcards: parameters.own_cuda_values(SETTINGS.own_cuda)[
            wildcards.cuda
        ],
        words=messages.used_by_pages(SETTINGS),
        code=code_digest("workflow/scripts/own_cuda_page.py"),
        versions=library_versions("babel", "jinja2", "pandas"),
    script:
        "../scripts/own_cuda_page.py"
