"""Hold every result on disk against what was made: ``python -m pipeline.check_results``."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipeline import manifest
from pipeline.errors import DataError
from pipeline.file_digests import LIST, differences, files, sha256

FOLDER = Path("results")
STORE = ".zarr"


@dataclass
class Findings:
    """What a look at all results has found.

    Attributes
    ----------
    whole
        How many results are as they were made.
    damaged
        One line for each result that is missing or not as it was made.
    unknown
        Files that no run has entered into the manifest.
    """

    whole: int = 0
    damaged: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Write them as a person reads them."""
        count = "1 result" if self.whole == 1 else f"{self.whole} results"
        lines = [f"{count} as made."]
        if self.damaged:
            lines += ["Damaged:", *(f"  {line}" for line in self.damaged)]
            lines += ["Delete what is named here, then `snakemake all` makes it again."]
        if self.unknown:
            lines += ["Not in the manifest:", *(f"  {line}" for line in self.unknown)]
            lines += [
                "The end of a run enters what it made and what else belongs to its targets: "
                "`snakemake all`; files that no rule makes should not be here."
            ]
        return "\n".join(lines)


def check(folder: Path = FOLDER) -> Findings:
    """Look at every file below ``folder``.

    A store is held against its own list of files, and that list against the manifest; anything else
    against the manifest alone. Hidden files are left out: they belong to runs under way.
    """
    found = Findings()
    try:
        expected = manifest.outputs(manifest.read(folder))
    except DataError as error:
        found.damaged.append(f"{error}")
        expected = {}
    there = dict(_results(folder))
    for name, path in sorted(there.items()):
        problems = _problems(path, expected.get(name))
        found.damaged += [f"{name}: {problem}" for problem in problems]
        if not problems and name not in expected:
            found.unknown.append(name)
        found.whole += not problems and name in expected
    found.damaged += [f"{name}: is missing" for name in sorted(expected) if name not in there]
    return found


def _results(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every store and every other file below ``folder``, with its path as the manifest names it."""
    for name, path in files(folder).items():
        parts = Path(name).parts
        inside = [depth for depth, part in enumerate(parts, start=1) if part.endswith(STORE)]
        if inside:
            path = folder.joinpath(*parts[: inside[0]])
        hidden = any(part.startswith(".") for part in parts)
        if not hidden and name != manifest.NAME:
            yield path.as_posix(), path


def _problems(path: Path, digest: str | None) -> list[str]:
    """Say what is wrong with a result; ``digest`` is what it should have, where that is known."""
    try:
        problems = differences(path) if path.is_dir() else []
        now = sha256(path / LIST if path.is_dir() else path)
    except (OSError, ValueError) as error:
        return [f"cannot be verified ({error})"]
    if not problems and digest not in (None, now):
        return ["was changed"]
    return problems


def main() -> int:
    """Print what was found; the exit code is 1 where something is damaged or not known."""
    if not FOLDER.is_dir():
        sys.stderr.write("There are no results here; run `snakemake all` in the project folder.\n")
        return 1
    found = check()
    sys.stdout.write(f"{found}\n")
    return 1 if found.damaged or found.unknown else 0


if __name__ == "__main__":
    sys.exit(main())
