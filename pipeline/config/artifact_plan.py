"""What the workflow makes of the catalog: which files, from which stores, with which settings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from pipeline.artifacts.catalog import CATALOG, OWN, OWN_CUDA
from pipeline.artifacts.make import MAKERS
from pipeline.config.models import BOTH, Config
from pipeline.config.own_cuda_entry import CudaEntry
from pipeline.words import ENGLISH, TRANSLATIONS

# Endings of files, those that hold words and those that are the same in every language.
WORDED = {"table": (".md", ".html", ".tex"), "figure": (".svg", ".png")}
NUMBERS = (".csv",)
REPORTED = {"table": ".html", "figure": ".svg"}
"""Endings of the files that ``snakemake --report`` shows."""

OWN_SECTION = "own"
"""Folder of the kernels of the user's own, beside those of the lectures."""

OWN_STORES = ("counts", "extrapolation", "occupancy", "predictions")
CUDA_STORES = ("cuda_counts", "cuda_lines", "cuda_memory", "cuda_predictions", "cuda_replays")


def module_name(lecture: str, artifact: str) -> str:
    """Name the module of an artifact; ``lecture`` as in its files, ``"lecture10"`` or ``"own"``."""
    return _listed(lecture)[artifact]


def needs(lecture: str, artifact: str) -> dict[str, str]:
    """List the stores that an artifact takes, by the names under which it does."""
    wanted = _module(lecture, artifact).ARTIFACT.needs
    return {name: f"results/{store}.zarr" for name, store in wanted.items()}


def settings(config: Config, lecture: str, artifact: str) -> dict[str, Any]:
    """Those settings of the lecture that the artifact takes; own kernels take lecture 10's."""
    declared = _module(lecture, artifact).ARTIFACT
    section = getattr(config, f"lecture{declared.lecture}")
    return {name: getattr(section, name) for name in declared.parameters}


def ids(kind: str, lecture: str | None = None) -> list[str]:
    """Artifacts that have a ``"table"`` or a ``"figure"``, of one lecture or of all."""
    return [
        artifact
        for name in ([lecture] if lecture else [*_lectures(), OWN_SECTION])
        for artifact in _listed(name)
        if hasattr(_module(name, artifact), MAKERS[kind])
    ]


def of_kinds(*kinds: str) -> list[str]:
    """Artifacts of all lectures that have these kinds and no other."""
    others = {artifact for kind in set(MAKERS) - set(kinds) for artifact in ids(kind)}
    return [
        artifact
        for artifact in ids(kinds[0])
        if artifact not in others and all(artifact in ids(kind) for kind in kinds)
    ]


def languages(config: Config) -> tuple[str, ...]:
    """Languages that results are written in."""
    every = (ENGLISH, *TRANSLATIONS)
    return every if config.language == BOTH else (config.language,)


def formats(kind: str, config: Config) -> list[str]:
    """List the endings of the files of a table or a figure: ``.csv``, ``.svg``, ``.zh.svg``."""
    return [
        *NUMBERS,
        *(_spoken(suffix, language) for language in languages(config) for suffix in WORDED[kind]),
    ]


def outputs(kind: str, config: Config) -> list[tuple[str, str]]:
    """Files of any artifact, with the language of those that a report shows, else nothing."""
    return [
        (
            f"results/{{lecture}}/{kind}s/{{artifact}}{suffix}",
            _language(suffix) if suffix.endswith(REPORTED[kind]) else "",
        )
        for suffix in formats(kind, config)
    ]


def _spoken(suffix: str, language: str) -> str:
    """Give the ending of a file in a language."""
    return suffix if language == ENGLISH else f".{language}{suffix}"


def _language(suffix: str) -> str:
    """Language in an ending such as ``.zh.svg``."""
    return next((one for one in TRANSLATIONS if suffix.startswith(f".{one}.")), ENGLISH)


def files(lecture: str, config: Config, among: Collection[str] | None = None) -> list[str]:
    """Every file of a lecture, or of those of its artifacts that are among these."""
    chosen = [one for one in _listed(lecture) if among is None or one in among]
    shown = [
        f"results/{lecture}/{kind}s/{artifact}{suffix}"
        for kind in MAKERS
        for artifact in ids(kind, lecture)
        if artifact in chosen
        for suffix in formats(kind, config)
    ]
    return [*shown, *(f"results/{lecture}/words/{artifact}.json" for artifact in chosen)]


def summary(lecture: str) -> str:
    """Say what a lecture's target builds."""
    tables, figures = len(ids("table", lecture)), len(ids("figure", lecture))
    return f"{lecture}: {tables} tables and {figures} figures are in results/{lecture}/."


def own_files(config: Config) -> list[str]:
    """Every result of the user's own kernels, and the check of each; nothing without kernels."""
    if not config.own_kernels:
        return []
    checks = [f"results/own/checks/{kernel}.txt" for kernel in config.own_kernels]
    stores = [f"results/own/{store}.zarr" for store in OWN_STORES]
    stores += [f"results/simulated/own/{kernel}.zarr" for kernel in config.own_kernels]
    return [*checks, *stores, *files(OWN_SECTION, config, OWN)]


def cuda_files(config: Config) -> list[str]:
    """Every result of the user's own compiled kernels; nothing without kernels."""
    if not config.own_cuda:
        return []
    return [
        *(f"results/own/checks/{kernel}.txt" for kernel in config.own_cuda),
        *(page.format(cuda=kernel) for kernel in config.own_cuda for page in pages(config)),
        *(
            f"results/{folder}/{kind}/{one}.zarr"
            for folder in ("own", "simulated/own")
            for kind in ("cuda", "sm")
            for one in cuda_runs(config.own_cuda)
        ),
        *(f"results/own/{store}.zarr" for store in CUDA_STORES),
        *files(OWN_SECTION, config, OWN_CUDA),
    ]


def pages(config: Config) -> list[str]:
    """Name the pages of a compiled kernel of the user's own, one for each language."""
    return [
        f"results/own/pages/{{cuda}}{_spoken('.html', language)}" for language in languages(config)
    ]


def cuda_runs(cuda: Mapping[str, CudaEntry]) -> list[str]:
    """Name every kernel with every architecture, as in the names of stores."""
    return [f"{name}_{arch}" for name, entry in cuda.items() for arch in entry.architectures]


def own_summary(own: Sequence[str], cuda: Sequence[str] = ()) -> str:
    """Say what the target of the user's own kernels builds."""
    if not own and not cuda:
        return "own: the configuration names no kernels of your own; docs/OWN_KERNELS.md says how."
    pages = ["results/own/tables/own_kernels.html"] * bool(own) + ["results/own/pages"] * bool(cuda)
    return f"own: {', '.join([*own, *cuda])} are right; see {' and '.join(pages)}."


def _listed(lecture: str) -> dict[str, str]:
    if lecture == OWN_SECTION:
        return OWN | OWN_CUDA
    return CATALOG.get(int(lecture.removeprefix("lecture")), {})


def _lectures() -> Iterator[str]:
    return (f"lecture{number}" for number, artifacts in CATALOG.items() if artifacts)


def _module(lecture: str, artifact: str) -> ModuleType:
    return import_module(module_name(lecture, artifact))
