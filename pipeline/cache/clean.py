"""Remove all kept results: ``python -m pipeline.cache.clean``."""

import os
import sys

from pipeline.cache.place import from_environment
from pipeline.errors import PaperGpuError

_MB = 1e6


def main() -> int:
    """Remove them, and say what they took."""
    try:
        entries = from_environment(os.environ)
        if entries is None:
            sys.stdout.write("The cache is off.\n")
            return 0
        count, size = entries.clear()
    except (PaperGpuError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{count} kept results removed from {entries.folder}, {size / _MB:.0f} MB.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
