# What the lectures say about their results, checked.


rule claims:
    input:
        **claim_plan.needs(),
    output:
        "results/claims.csv",
        "results/claims.json",
    log:
        "logs/claims.log",
    conda:
        "../../environment.yml"
    params:
        settings=claim_plan.settings(SETTINGS),
        words=messages.used_by_claims(SETTINGS),
        code=code_digest("workflow/scripts/claims.py"),
        versions=library_versions("babel", "pandas"),
    script:
        "../scripts/claims.py"
