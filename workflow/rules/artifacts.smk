# The tables and figures of the lectures, one job each, as pipeline/artifacts/catalog.py lists them.


rule table:
    input:
        unpack(
            lambda wildcards: artifact_plan.needs(
                wildcards.lecture, wildcards.artifact
            )
        ),
    output:
        multiext("results/{lecture}/tables/{artifact}", *artifact_plan.TABLE_FORMATS),
    log:
        "logs/{lecture}/tables/{artifact}.log",
    wildcard_constraints:
        artifact="|".join(artifact_plan.ids("table")),
    conda:
        "../../environment.yml"
    params:
        module=lambda wildcards: artifact_plan.module_name(
            wildcards.lecture, wildcards.artifact
        ),
        settings=lambda wildcards: artifact_plan.settings(
            SETTINGS, wildcards.lecture, wildcards.artifact
        ),
        code=lambda wildcards: code_digest(
            "workflow/scripts/table.py",
            artifact_plan.module_name(wildcards.lecture, wildcards.artifact),
        ),
        versions=library_versions("jinja2", "pandas", "tabulate"),
    script:
        "../scripts/table.py"


rule figure:
    input:
        unpack(
            lambda wildcards: artifact_plan.needs(
                wildcards.lecture, wildcards.artifact
            )
        ),
    output:
        multiext("results/{lecture}/figures/{artifact}", *artifact_plan.FIGURE_FORMATS),
    log:
        "logs/{lecture}/figures/{artifact}.log",
    wildcard_constraints:
        artifact="|".join(artifact_plan.ids("figure")),
    conda:
        "../../environment.yml"
    params:
        module=lambda wildcards: artifact_plan.module_name(
            wildcards.lecture, wildcards.artifact
        ),
        settings=lambda wildcards: artifact_plan.settings(
            SETTINGS, wildcards.lecture, wildcards.artifact
        ),
        code=lambda wildcards: code_digest(
            "workflow/scripts/figure.py",
            artifact_plan.module_name(wildcards.lecture, wildcards.artifact),
        ),
        versions=library_versions("matplotlib", "pandas"),
    script:
        "../scripts/figure.py"
