"""Where kept results are, and how much they may take, by environment variables."""

import math
from collections.abc import Mapping
from pathlib import Path

from pipeline.cache.entries import Entries
from pipeline.errors import ConfigError

FOLDER = "PAPER_GPU_CACHE"
LIMIT = "PAPER_GPU_CACHE_GB"
DEFAULT_FOLDER = ".cache"
DEFAULT_LIMIT = "2"

_OFF = "off"
_GB = 1e9
_BELOW = "results"
"""Folder of the entries, so that nothing else in a folder of the user's is ever touched."""


def from_environment(environment: Mapping[str, str]) -> Entries | None:
    """Find the cache that ``PAPER_GPU_CACHE`` and ``PAPER_GPU_CACHE_GB`` ask for; none if off.

    Raises
    ------
    ConfigError
        If the limit is no positive number, or the folder is in the home of nobody.
    """
    folder = environment.get(FOLDER) or DEFAULT_FOLDER
    given = environment.get(LIMIT) or DEFAULT_LIMIT
    try:
        limit = float(given)
    except ValueError:
        limit = math.nan
    if not 0 < limit < math.inf:
        raise ConfigError(
            f"{LIMIT} (environment): {given!r} is no size; give a number of GB above 0, such as "
            f"{DEFAULT_LIMIT}, or leave it out"
        )
    if folder.lower() == _OFF:
        return None
    try:
        return Entries(Path(folder).expanduser() / _BELOW, limit * _GB)
    except RuntimeError as error:
        raise ConfigError(
            f"{FOLDER} (environment): {folder!r} is no folder ({error}); give a path, or "
            f"{_OFF} to keep nothing"
        ) from error
