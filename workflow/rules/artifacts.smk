# The tables and figures of the lectures, as pipeline/artifacts/catalog.py lists them: one job per
# artifact makes all its files in all languages, and a json with its words for the reading copy.

TABLE = artifact_plan.formats("table", SETTINGS)
FIGURE = artifact_plan.formats("figure", SETTINGS)


rule artifact:
    input:
        unpack(
            lambda wildcards: artifact_plan.needs(
                wildcards.lecture, wildcards.artifact
            )
        ),
    output:
        multiext("results/{lecture}/tables/{artifact}", *TABLE),
        multiext("results/{lecture}/figures/{artifact}", *FIGURE),
        "results/{lecture}/words/{artifact}.json",
    log:
        "logs/{lecture}/{artifact}.log",
    wildcard_constraints:
        artifact="|".join(artifact_plan.of_kinds("table", "figure")),
    conda:
        "../../environment.yml"
    params:
        module=lambda wildcards: artifact_plan.module_name(
            wildcards.lecture, wildcards.artifact
        ),
        settings=lambda wildcards: artifact_plan.settings(
            SETTINGS, wildcards.lecture, wildcards.artifact
        ),
        words=lambda wildcards: messages.used(
            SETTINGS, wildcards.lecture, wildcards.artifact
        ),
        code=lambda wildcards: code_digest(
            "workflow/scripts/artifact.py",
            artifact_plan.module_name(wildcards.lecture, wildcards.artifact),
        ),
        versions=library_versions(
            "babel",
            "jinja2",
            "matplotlib",
            "pandas",
            "pylopdf-fonts-zh-cn",
            "tabulate",
        ),
    script:
        "../scripts/artifact.py"


use rule artifact as table with:
    output:
        multiext("results/{lecture}/tables/{artifact}", *TABLE),
        "results/{lecture}/words/{artifact}.json",
    wildcard_constraints:
        artifact="|".join(artifact_plan.of_kinds("table")),


use rule artifact as figure with:
    output:
        multiext("results/{lecture}/figures/{artifact}", *FIGURE),
        "results/{lecture}/words/{artifact}.json",
    wildcard_constraints:
        artifact="|".join(artifact_plan.of_kinds("figure")),
