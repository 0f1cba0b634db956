"""What the workflow makes of the claims: from which stores, with which settings and words."""

from typing import Any

from pipeline.claims.catalog import CLAIMS
from pipeline.config.models import BOTH, Config
from pipeline.words import ENGLISH


def needs() -> dict[str, str]:
    """List the stores that claims take, by the names under which they do."""
    wanted = dict(sorted(item for one in CLAIMS for item in one.needs.items()))
    return {name: f"results/{store}.zarr" for name, store in wanted.items()}


def settings(config: Config) -> dict[int, dict[str, Any]]:
    """Give every lecture's settings that claims take."""
    taken = {one.lecture: set[str]() for one in CLAIMS}
    for one in CLAIMS:
        taken[one.lecture].update(one.parameters)
    return {
        lecture: {
            name: getattr(getattr(config, f"lecture{lecture}"), name) for name in sorted(names)
        }
        for lecture, names in taken.items()
    }


def language(config: Config) -> str:
    """Choose the language of the summary at the end of a run."""
    return ENGLISH if config.language == BOTH else config.language
