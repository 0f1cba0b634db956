# The tables and figures of the lectures, as pipeline/artifacts/catalog.py lists them: one job per
# artifact makes all its files in all languages, a json with its words for the reading copy, and the
# same words as captions of `snakemake --report`, which shows the figures and the pages of tables.

from snakemake.io import report as reported

SHOWN = {
    kind: [
        (
            reported(
                path,
                caption=f"../report/{language}.rst",
                category="{lecture}",
                subcategory="{artifact}",
                labels={"shows": kind, "language": language},
            )
            if language
            else path
        )
        for path, language in artifact_plan.outputs(kind, SETTINGS)
    ]
    for kind in ("table", "figure")
}
WORDS = multiext("results/{lecture}/words/{artifact}", ".json", ".rst")


rule artifact:
    input:
        unpack(
            lambda wildcards: artifact_plan.needs(
                wildcards.lecture, wildcards.artifact
            )
        ),
    output:
        SHOWN["table"],
        SHOWN["figure"],
        WORDS,
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


# Apart: how figures look is no business of tables.
rule table:
    input:
        unpack(
            lambda wildcards: artifact_plan.needs(
                wildcards.lecture, wildcards.artifact
            )
        ),
    output:
        SHOWN["table"],
        WORDS,
    log:
        "logs/{lecture}/{artifact}.log",
    wildcard_constraints:
        artifact="|".join(artifact_plan.of_kinds("table")),
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
            "workflow/scripts/table.py",
            artifact_plan.module_name(wildcards.lecture, wildcards.artifact),
        ),
        versions=library_versions("babel", "jinja2", "pandas", "tabulate"),
    script:
        "../scripts/table.py"


use rule artifact as figure with:
    output:
        SHOWN["figure"],
        WORDS,
    wildcard_constraints:
        artifact="|".join(artifact_plan.of_kinds("figure")),
