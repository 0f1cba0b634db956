"""Compile the test kernels: ``python -m tests.compiled.renew`` after a change of one."""

from pathlib import Path

from pipeline.compiled import listing, toolchain

HERE = Path(__file__).parent
ARCHITECTURES = ("sm_80", "sm_120")
FURTHER = {"cooperative": ("sm_90",), "reductions": ("sm_100",)}
"""Kernels whose code has instructions of its own on other architectures."""


def made(source: Path, architecture: str) -> str:
    """Return the listing of a test kernel as text."""
    return listing.write(toolchain.from_source(source, architecture)[source.stem])


def main() -> None:
    for source in sorted((HERE / "kernels").glob("*.cu")):
        for architecture in (*ARCHITECTURES, *FURTHER.get(source.stem, ())):
            target = HERE / "listings" / f"{source.stem}_{architecture}.sass"
            target.write_text(made(source, architecture), encoding="utf-8")


if __name__ == "__main__":
    main()
