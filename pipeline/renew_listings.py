"""Compile the CUDA twins of the ladder anew: ``make sass``.

Apart from reading listings, so that what reads them does not depend on the kernels in Python.
"""

import sys
from pathlib import Path

from pipeline.compiled import listing, toolchain
from pipeline.errors import PaperGpuError
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import (
    ARCHITECTURES,
    TWINS,
    tiled_listing,
    tilings,
    twin_listing,
    twin_source,
)
from pipeline.published_listings import published

GEMV = "gemv_bf16"
GEMV_ARCHITECTURES = ("sm_80", "sm_90")
"""Architectures of the GPUs whose matrix-vector products are published."""


def architectures_of(kernel: str) -> list[str]:
    """Return the architectures that have a kernel's instructions."""
    one = KERNELS[kernel]
    least = one.launch(one.options()).capability
    return [name for name in ARCHITECTURES if int(name.removeprefix("sm_")) >= least]


def renew(folder: Path) -> None:
    """Write the listings of the ladder anew, with other tiles, as published, and that of a GEMV."""
    folder.mkdir(parents=True, exist_ok=True)
    for kernel in KERNELS:
        for architecture in architectures_of(kernel):
            made = toolchain.from_source(twin_source(kernel), architecture)[kernel]
            text = listing.write(made)
            twin_listing(kernel, architecture, folder).write_text(text, encoding="utf-8")
    for one in tilings(folder):
        source = twin_source(one.kernel)
        made = toolchain.from_source(source, one.architecture, one.defines)[one.kernel]
        path = tiled_listing(one.kernel, one.architecture, one.tiles, folder)
        path.parent.mkdir(exist_ok=True)
        path.write_text(listing.write(made), encoding="utf-8")
    for code in published(folder):
        made = toolchain.from_source(code.source, code.architecture, code.defines)[code.kernel]
        path = code.listing(folder)
        path.parent.mkdir(exist_ok=True)
        path.write_text(listing.write(made), encoding="utf-8")
    for architecture in GEMV_ARCHITECTURES:
        made = toolchain.from_source(twin_source(GEMV), architecture)[GEMV]
        path = twin_listing(GEMV, architecture, folder)
        path.write_text(listing.write(made), encoding="utf-8")


def main() -> int:
    """Write ``data/sass`` anew."""
    try:
        renew(TWINS)
    except PaperGpuError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
