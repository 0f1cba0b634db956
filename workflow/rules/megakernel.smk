# Decoding held against measurements, the megakernel instruction by instruction, and timelines.


# The executions that measurements are compared with, and the plan of the megakernel.
COMPARED = {
    name: SETTINGS.decode.executions[name]
    for name in (SETTINGS.megakernel.kernels, SETTINGS.megakernel.execution)
}
INSTRUCTION_PLAN = COMPARED[SETTINGS.megakernel.execution].plan
TIMELINES = [*SETTINGS.decode.executions, INSTRUCTIONS]


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


rule decode_gpu_figures:
    input:
        measured="results/decode/measured.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/decode/gpu_figures.zarr"),
    log:
        "logs/decode/gpu_figures.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("workflow/scripts/decode_gpu_figures.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_gpu_figures.py"


rule megakernel:
    input:
        figures="results/decode/gpu_figures.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/decode/megakernel.zarr"),
    log:
        "logs/decode/megakernel.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            [SETTINGS.lecture11.model],
            [INSTRUCTION_PLAN],
        ),
        settings=dict(model=SETTINGS.lecture11.model, plan=INSTRUCTION_PLAN),
        code=code_digest("workflow/scripts/megakernel.py"),
        versions=library_versions(),
    script:
        "../scripts/megakernel.py"


rule megakernel_trace:
    input:
        figures="results/decode/gpu_figures.zarr",
    output:
        directory("results/decode/megakernel_trace.zarr"),
    log:
        "logs/decode/megakernel_trace.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            [SETTINGS.lecture11.model],
            [INSTRUCTION_PLAN],
        ),
        settings=dict(
            model=SETTINGS.lecture11.model,
            plan=INSTRUCTION_PLAN,
            gpu=SETTINGS.lecture11.gpu,
            assignment=SETTINGS.megakernel.assignment,
        ),
        code=code_digest("workflow/scripts/megakernel_trace.py"),
        versions=library_versions(),
    script:
        "../scripts/megakernel_trace.py"


rule decode_spans:
    input:
        "results/decode/megakernel_trace.zarr",
    output:
        directory("results/decode/spans.zarr"),
    log:
        "logs/decode/spans.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            [SETTINGS.lecture11.model],
            decode_parameters.execution_plans(SETTINGS.decode),
        ),
        executions=decode_parameters.entries(SETTINGS.decode.executions),
        gpus=alone(SETTINGS.lecture11.gpu, DECODE_GPUS[SETTINGS.lecture11.gpu]),
        settings=dict(
            assumptions=SETTINGS.decode.timeline.model_dump(),
            layers=SETTINGS.megakernel.layers,
        ),
        code=code_digest("workflow/scripts/decode_spans.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_spans.py"


# Timelines for ui.perfetto.dev and chrome://tracing.
rule decode_traces:
    input:
        "results/decode/spans.zarr",
    output:
        expand("results/lecture11/traces/{execution}.json", execution=TIMELINES),
    log:
        "logs/lecture11/traces.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(executions=TIMELINES),
        code=code_digest("workflow/scripts/decode_traces.py"),
        versions=library_versions("pandas"),
    script:
        "../scripts/decode_traces.py"


rule decode_compared:
    input:
        measured="results/decode/measured.zarr",
        gpus="results/gpus.zarr",
    output:
        directory("results/decode/compared.zarr"),
    log:
        "logs/decode/compared.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            SETTINGS.decode.models,
            list(dict.fromkeys(one.plan for one in COMPARED.values())),
        ),
        executions=decode_parameters.entries(COMPARED),
        gpus=side_by_side(DECODE_GPUS),
        settings=dict(
            assumptions=SETTINGS.decode.timeline.model_dump(),
            kernels=SETTINGS.megakernel.kernels,
            megakernel=SETTINGS.megakernel.execution,
        ),
        code=code_digest("workflow/scripts/decode_compared.py"),
        versions=library_versions("pandas"),
    script:
        "../scripts/decode_compared.py"
