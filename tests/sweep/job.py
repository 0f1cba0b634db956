"""Run a toy sweep in a process of its own: python -m tests.sweep.job PATH COMPUTE [SECONDS]."""

import resource
import sys
from pathlib import Path

from pipeline.errors import PaperGpuError
from pipeline.region_store import RegionStore
from pipeline.sweep.execute import Limits, run
from pipeline.sweep.plan import Budget
from pipeline.sweep.progress import Progress
from tests.sweep import toy


def main(path, compute, *rest):
    if compute == "full_disk":
        # No file may grow beyond this: what a full disk or a quota does to a writer.
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(rest[0]), int(rest[0])))
        sweep = toy.sweep({"x": 64, "y": 64}, toy.noise, x=256, y=64)
    else:
        sweep = toy.sweep(compute=toy.slowly(float(rest[0])))
    limits = Limits("threads", 1, Budget(10**9, 10**9, 10**9))
    try:
        run(sweep, RegionStore(Path(path)), "one", limits, Progress(sys.stdout))
    except PaperGpuError as error:
        sys.exit(f"ERROR {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
