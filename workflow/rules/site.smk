# The reading copy: one folder of pages that needs no server and no network.


rule site:
    input:
        artifacts=site_plan.files(SETTINGS),
        claims="results/claims.json",
        gpus="results/gpus.zarr",
        tiles="results/sweeps/tiles.zarr",
        warp_tiles="results/sweeps/warp_tiles.zarr",
        timelines="results/sweeps/timeline.zarr",
        # The digest of the code covers Python alone.
        parts=site_plan.parts(),
    output:
        directory("results/site"),
    log:
        "logs/site.log",
    conda:
        "../../environment.yml"
    params:
        settings=dict(
            lectures=site_plan.lectures(),
            languages=artifact_plan.languages(SETTINGS),
        ),
        words=messages.used_by_site(SETTINGS),
        code=code_digest("workflow/scripts/site.py"),
        versions=library_versions("babel", "jinja2", "markupsafe", "pandas"),
    script:
        "../scripts/site.py"
