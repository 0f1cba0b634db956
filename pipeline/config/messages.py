"""Which texts results hold: all of them, for the catalogues, and those of one artifact.

``python -m pipeline.config.messages`` brings the catalogues in ``pipeline/locale`` up to date: new
texts come in without a translation, those that are gone go.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from pipeline.artifacts.catalog import CATALOG, OWN, OWN_CUDA
from pipeline.artifacts.ladder import name
from pipeline.artifacts.lecture10.compiled_vs_python import COMPARED
from pipeline.block_programs.programs.catalog import PROGRAMS
from pipeline.config import artifact_plan
from pipeline.config.load import load
from pipeline.config.models import Config
from pipeline.counting.memory_kinds import KINDS
from pipeline.kernels.registry import KERNELS
from pipeline.provenance import texts
from pipeline.simt.hazards import TEXTS as HAZARDS
from pipeline.user_file import CHECKOUT
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.gpus import GPUS
from pipeline.vocab.sweeps import RULES
from pipeline.words import TRANSLATIONS, catalogue_file, digest

PACKAGE = CHECKOUT / "pipeline"
CLAIMS, REPORT = "pipeline.claims.catalog", "pipeline.claims.report"
PAGE = "pipeline.artifacts.cuda_page"
CONFIGURATION = "config/config.yaml"

# How texts are marked in code and in templates.
KEYWORDS: dict[str, Any] = {"say": None, "message": None}
# Ending of files that may hold marked texts -> how Babel reads them.
READERS = {".py": "python", ".jinja": "jinja2"}

# Characters in a line of a catalogue.
WIDTH = 100
HEAD = """\
# What results say in another language. `python -m pipeline.config.messages` keeps the ids: new
# texts come in with an empty translation, those that are gone go.
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def every() -> dict[str, str]:
    """Every text that may be translated, and the file that it is first found in."""
    found: dict[str, str] = {}
    for text, place in (*_marked(), *_declared(), *_named()):
        found.setdefault(text, place)
    return found


def used(config: Config, lecture: str, artifact: str) -> dict[str, str]:
    """Digest of the words of an artifact, by language: it changes when one of its words does.

    Parameters
    ----------
    config
        Says which languages there are, and holds names that readers see.
    lecture, artifact
        As in :func:`pipeline.config.artifact_plan.module_name`.
    """
    module = artifact_plan.module_name(lecture, artifact)
    words = {*_written(config, module), *_fields(import_module(module))}
    return {language: digest(language, words) for language in artifact_plan.languages(config)}


def used_by_claims(config: Config) -> dict[str, str]:
    """Digest of the words of all claims, by language; they are written in every one."""
    words = _written(config, CLAIMS, REPORT)
    return {language: digest(language, words) for language in TRANSLATIONS}


def used_by_pages(config: Config) -> dict[str, str]:
    """Digest of the words of the pages of the user's own compiled kernels, by language."""
    words = _written(config, PAGE)
    return {language: digest(language, words) for language in artifact_plan.languages(config)}


def _written(config: Config, *modules: str) -> set[str]:
    """Texts in the code behind modules, and names that they show."""
    found = texts(*modules)
    # A module that takes a variable of names shows any of its values.
    return found.union(*(NAMES[variable](config) for variable in found & set(NAMES)))


def used_by_site(config: Config) -> dict[str, str]:
    """Digest of the words of the reading copy itself, by language."""
    words = {
        *(text for text, _ in _marked(PACKAGE / "site")),
        *_vocabulary(),
        *texts("pipeline.artifacts.style"),
        *_executions(config),
    }
    return {language: digest(language, words) for language in artifact_plan.languages(config)}


def renewed(language: str, old: bytes) -> bytes:
    """Give a catalogue with every text there is, those of a file together, and no other.

    Parameters
    ----------
    language
        Of the translations.
    old
        The catalogue as it stands; translations are taken from it.
    """
    known = read_po(io.BytesIO(old), locale=language)
    catalogue = Catalog(locale=language)
    for text, place in sorted(every().items(), key=lambda item: item[1]):
        entry = known.get(text)
        catalogue.add(text, entry.string if entry else "", locations=[(place, 0)])
    written = io.BytesIO()
    write_po(written, catalogue, width=WIDTH, omit_header=True, include_lineno=False)
    return HEAD.format(language=language).encode() + written.getvalue()


def _marked(folder: Path = PACKAGE) -> Iterator[tuple[str, str]]:
    """Texts in calls of ``say`` and ``message``, in code and in templates."""
    for path in sorted(folder.rglob("*")):
        if reader := READERS.get(path.suffix):
            place = path.relative_to(CHECKOUT).as_posix()
            for _, text, *_ in extract_from_file(reader, path, keywords=KEYWORDS):
                yield str(text), place


def _declared() -> Iterator[tuple[str, str]]:
    """Words of every artifact, and of the figures of GPUs."""
    for module in (one for ids in (OWN, OWN_CUDA, *CATALOG.values()) for one in ids.values()):
        place = f"{module.replace('.', '/')}.py"
        yield from ((text, place) for text in _fields(import_module(module)))
    yield from _vocabulary().items()


def _vocabulary() -> dict[str, str]:
    """Phrases of the vocabulary that readers see, and the files that they are in."""
    figures = {figure.long_name: "pipeline/vocab/gpus.py" for figure in GPUS.values()}
    return figures | dict.fromkeys(RULES.values(), "pipeline/vocab/sweeps.py")


def _fields(module: ModuleType) -> Iterator[str]:
    """Texts that an artifact declares."""
    artifact = module.ARTIFACT
    yield from filter(None, (artifact.title, artifact.caption, artifact.reading))
    for column in getattr(module, "COLUMNS", ()):
        yield from filter(None, (column.heading, column.unit))


def _named() -> Iterator[tuple[str, str]]:
    """Names of kernels, and those in the configuration as it is delivered."""
    for kernel in KERNELS.values():
        yield name(kernel.id, kernel.label), f"pipeline/kernels/{kernel.id}.py"
    yield from ((text, "pipeline/simt/hazards.py") for text in HAZARDS)
    delivered = load(yaml.safe_load((CHECKOUT / CONFIGURATION).read_bytes()))
    for variable, names in NAMES.items():
        place = NAMED_IN.get(variable, CONFIGURATION)
        yield from ((text, place) for text in names(delivered))


def _kernels(config: Config) -> Iterator[str]:
    # All of them: which are configured reaches an artifact by its stores.
    yield from (name(kernel.id, kernel.label) for kernel in KERNELS.values())
    for own in (config.own_kernels, config.own_cuda):
        yield from (entry.label for entry in own.values())


def _executions(config: Config) -> Iterator[str]:
    yield from (execution.label for execution in config.decode.executions.values())


def _launches(config: Config) -> Iterator[str]:
    yield from (launch.label for launch in config.decode.waves.values())


def _programs(_: Config) -> Iterator[str]:
    yield from (program.label for program in PROGRAMS.values())


def _counters(_: Config) -> Iterator[str]:
    yield from (COUNTERS[counter].long_name.split(":")[0] for counter in COMPARED)


def _accesses(_: Config) -> Iterator[str]:
    yield from KINDS


NAMES: Mapping[str, Callable[[Config], Iterator[str]]] = {
    "kernel_label": _kernels,
    "execution_label": _executions,
    "case_label": _launches,
    "program_label": _programs,
    "meaning": _counters,
    "access": _accesses,
}
"""Variable of a store, or column of a table -> the names that it may hold."""
NAMED_IN = {
    "program_label": "pipeline/block_programs/programs/catalog.py",
    "meaning": "pipeline/vocab/counters.py",
    "access": "pipeline/counting/memory_kinds.py",
}
"""Where names are written that do not come from the configuration."""


if __name__ == "__main__":
    for each in TRANSLATIONS:
        file = catalogue_file(each)
        file.write_bytes(renewed(each, file.read_bytes()))
