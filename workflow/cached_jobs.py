"""Snakemake asks the cache of this project, and no other, before it starts a job.

Two places of Snakemake are built upon, which its pinned version fixes and tests watch: a rule's
``cache``, which the local executor asks before a job and tells after it, and the persistence, which
says what of a job's outputs is not to be trusted.
"""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from snakemake.caching import LOCATION_ENVVAR
from snakemake.caching.rule import CacheFlag, RuleCache
from snakemake.exceptions import CacheMissException
from snakemake.persistence.file import FilePersistence

from pipeline.cache.run import RESTORED, Run
from pipeline.manifest import Job


class CachedRule(RuleCache):
    """What a rule asks before it runs a job."""

    def __init__(self, rule: Any, run: Run) -> None:
        super().__init__(rule, CacheFlag.output)
        self._run = run

    @property
    def output(self) -> bool:
        """Whether to ask. In a dry run inputs are not there yet."""
        return not self.rule.workflow.dryrun

    def check(self) -> None:
        """Allow what Snakemake's own cache cannot take: any number of outputs, named or not."""

    async def exists(self, job: Any) -> bool:  # noqa: ARG002
        """Say nothing beforehand."""
        return False

    async def fetch(self, job: Any) -> None:
        """Restore the outputs of a job.

        Raises
        ------
        CacheMissException
            If the job has to be run.
        """
        if not self._run.restore(Job.of(job)):
            raise CacheMissException(f"{job} has to be run")
        for log in job.log:
            Path(log).write_text(RESTORED, encoding="utf-8")

    async def store(self, job: Any) -> None:
        """Keep the outputs of a job that was run."""
        self._run.finished(Job.of(job))


class RecordedOnly(FilePersistence):
    """Trusts no output without a record of what made it, or that was made of something else.

    Snakemake takes results that lie there without a record, say in a copy of the checkout, for
    up to date whatever the configuration is, and goes by time stamps where inputs have changed.
    """

    def __init__(self, *args: Any, run: Run, results: Path, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._run, self._results = run, results

    async def incomplete(self, job: Any) -> list[Any]:
        """List the outputs that are there and must be made anew."""
        recorded = self.has_metadata(job) and not self.has_outdated_metadata(job)
        if recorded and not self._run.outdated(Job.of(job), self._results):
            return await super().incomplete(job)
        return [output for output in job.output if await output.exists()]


def install(workflow: Any, run: Run, results: Path) -> None:
    """Let every rule with outputs ask ``run``; call it when all rules are there."""
    if workflow.is_main_process:
        persistence = partial(RecordedOnly, run=run, results=results)
        sys.modules[type(workflow).__module__].FilePersistence = persistence
    if workflow.storage_settings.default_storage_provider is not None:
        # Results are not in this folder then.
        return
    for rule in workflow.rules:
        if rule.output:
            rule.cache = CachedRule(rule, run)
    # Snakemake makes a cache of its own as well, which no rule asks.
    os.environ.setdefault(LOCATION_ENVVAR, os.curdir)
    workflow.workflow_settings.cache = []
