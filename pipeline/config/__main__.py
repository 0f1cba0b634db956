"""Write ``config/README.md`` anew: ``python -m pipeline.config``."""

from pathlib import Path

from pipeline.config.readme import readme
from pipeline.kernels.registry import KERNELS

if __name__ == "__main__":
    Path("config/README.md").write_text(readme(KERNELS), encoding="utf-8")
