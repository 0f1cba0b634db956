"""What one run of the workflow takes from the cache, and gives to it."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pipeline import manifest
from pipeline.cache.entries import KEY, Entries, TooLargeError
from pipeline.cache.index import DamagedError
from pipeline.cache.journal import Journal
from pipeline.cache.keys import Digests, Signature, key_of, signature
from pipeline.file_digests import files
from pipeline.manifest import Job

RESTORED = "Not run: the results are those that it made before, from the cache.\n"
"""The log of a job that was not run."""

JOURNAL = Path(".run/keys")

_CODE = ("pipeline", "workflow")
_COMPILED = "__pycache__"


class Run:
    """One run: it asks for each job before it is started, and keeps what was made.

    Nothing that goes wrong here ends a run: at worst a job is run that need not be.

    Parameters
    ----------
    entries
        The cache; None to run every job. Keys are found all the same.
    checkout
        Folder of the package and the workflow.
    say
        Takes a warning, one line.

    Attributes
    ----------
    restored
        Names of the jobs that were not run because of the cache.
    """

    def __init__(self, entries: Entries | None, checkout: Path, say: Callable[[str], None]) -> None:
        self._journal = Journal(JOURNAL)
        self.restored: set[str] = set()
        self._entries = entries
        self._say = say
        self._digests = Digests()
        self._started: dict[str, str] = {}
        self._code: dict[Path, Signature] = {}
        self._keeping = entries
        self._noted: dict[str, str] | None = None
        for folder in _CODE:
            self.watch(files(checkout / folder).values())

    @property
    def keys(self) -> dict[str, str]:
        """Key of each job that was made or restored and is not in the manifest yet, by its name."""
        return self._journal.keys

    def watch(self, code: Iterable[Path]) -> None:
        """Note how files of code stand now, before their digests are taken.

        A job that runs after an edit runs other code than its parameters say; it is not kept.
        """
        self._code |= {path: signature(path) for path in code if _COMPILED not in path.parts}

    def restore(self, job: Job) -> bool:
        """Put the outputs of a job in place; false if it has to be run."""
        self._note(job, "")
        key = self._started[job.name] = self._key(job)
        if not (key and self._restored(job, key)):
            return False
        self._note(job, key)
        self.restored.add(job.name)
        return True

    def finished(self, job: Job) -> None:
        """Keep the outputs of a job that was run, if all that it read stands as it did."""
        key = self._started.get(job.name)
        if not key or key != self._key(job) or self._code_changed():
            return
        self._note(job, key)
        self._keep(key, job.outputs)

    def outdated(self, job: Job, results: Path) -> bool:
        """Whether the manifest says that outputs were made of something else than there is now.

        Snakemake looks at time stamps, which say little after a clock was set back or files were
        brought from elsewhere. False where the manifest does not know.
        """
        if self._noted is None:
            self._noted = manifest.keys(results)
        try:
            return self._noted.get(job.name) not in (None, key_of(job, self._digests))
        except (OSError, TypeError):
            # An input is not there yet; what makes it will be seen to run.
            return False

    def enter(self, results: Path, jobs: Iterable[Job]) -> None:
        """Enter finished jobs into the manifest."""
        finished = list(jobs)
        self._journal.read()
        manifest.enter(results, finished, self.keys)
        self._journal.settle(job.name for job in finished)

    def adopt(self, forgotten: Mapping[str, Mapping[str, str]]) -> None:
        """Keep results that are about to be made anew: key -> their digests, by path."""
        for key, digests in forgotten.items():
            if KEY.fullmatch(key) and all(Path(path).exists() for path in digests):
                self._keep(key, digests, digests)

    def close(self) -> None:
        """Bring the cache below its limit."""
        try:
            if self._entries:
                self._entries.evict()
        except OSError as error:
            self._say(f"The cache cannot be brought below its limit: {error}")

    def told(self) -> str:
        """Say how many jobs were not run."""
        count = len(self.restored)
        return f"{count} {'job' if count == 1 else 'jobs'} taken from the cache, not run."

    def _key(self, job: Job) -> str:
        """Key of a job; none if it cannot be told."""
        try:
            return key_of(job, self._digests)
        except (OSError, TypeError) as error:
            self._say(f"{job.name}: not looked for in the cache: {error}")
            return ""

    def _note(self, job: Job, key: str) -> None:
        try:
            self._journal.note(job.name, key)
        except OSError as error:
            self._say(f"{job.name}: its key cannot be noted: {error}")

    def _restored(self, job: Job, key: str) -> bool:
        if self._entries is None:
            return False
        try:
            return self._entries.restore(key, map(Path, job.outputs))
        except DamagedError as error:
            self._say(f"{job.name}: what the cache had is damaged ({error}); it is made anew")
        except OSError as error:
            self._say(f"{job.name}: not restored from the cache: {error}")
        return False

    def _keep(
        self, key: str, outputs: Iterable[str], expected: Mapping[str, str] | None = None
    ) -> None:
        """Keep results; what is damaged is named where it is read, and is not kept."""
        # Jobs end in threads of their own.
        entries = self._keeping
        if entries is None:
            return
        try:
            entries.keep(key, map(Path, outputs), expected)
        except (DamagedError, TooLargeError):
            return
        except OSError as error:
            self._keeping = None
            self._say(f"Nothing more is kept in the cache {entries.folder}: {error}")

    def _code_changed(self) -> bool:
        try:
            return any(signature(path) != noted for path, noted in self._code.items())
        except OSError:
            return True
