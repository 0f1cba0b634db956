# One decode step: what it reads, how it is launched, where the time goes.


rule decode_ledger:
    output:
        directory("results/decode/ledger.zarr"),
    log:
        "logs/decode/ledger.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            SETTINGS.decode.models,
            [SETTINGS.decode.ledger_plan],
        ),
        settings=dict(plan=SETTINGS.decode.ledger_plan),
        code=code_digest("workflow/scripts/decode_ledger.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_ledger.py"


rule decode_timeline:
    output:
        directory("results/decode/timeline.zarr"),
    log:
        "logs/decode/timeline.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            SETTINGS.decode.models,
            decode_parameters.execution_plans(SETTINGS.decode),
        ),
        executions=decode_parameters.entries(SETTINGS.decode.executions),
        gpus=side_by_side(DECODE_GPUS),
        settings=SETTINGS.decode.timeline.model_dump(),
        code=code_digest("workflow/scripts/decode_timeline.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_timeline.py"


rule decode_waves:
    output:
        directory("results/decode/waves.zarr"),
    log:
        "logs/decode/waves.log",
    conda:
        "../../environment.yml"
    params:
        workload=decode_parameters.workload(
            SETTINGS.decode,
            MODELS,
            PLANS,
            [SETTINGS.lecture11.model],
            [SETTINGS.decode.ledger_plan],
        ),
        launches=decode_parameters.entries(SETTINGS.decode.waves),
        gpus=side_by_side(
            {
                gpu: DECODE_GPUS[gpu]
                for gpu in decode_parameters.wave_gpus(
                    SETTINGS.decode, SETTINGS.lecture11.gpu
                )
            },
            ["sm_count"],
        ),
        settings=dict(
            model=SETTINGS.lecture11.model,
            plan=SETTINGS.decode.ledger_plan,
            gpu=SETTINGS.lecture11.gpu,
        ),
        code=code_digest("workflow/scripts/decode_waves.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_waves.py"


rule decode_sensitivity:
    output:
        directory("results/decode/sensitivity.zarr"),
    log:
        "logs/decode/sensitivity.log",
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
        comparison=dict(
            executions=decode_parameters.entries(SETTINGS.decode.executions),
            reference=SETTINGS.lecture11.reference,
            variants=decode_parameters.entries(SETTINGS.decode.sensitivity),
        ),
        gpus=alone(SETTINGS.lecture11.gpu, DECODE_GPUS[SETTINGS.lecture11.gpu]),
        settings=SETTINGS.decode.timeline.model_dump(),
        code=code_digest("workflow/scripts/decode_sensitivity.py"),
        versions=library_versions(),
    script:
        "../scripts/decode_sensitivity.py"
