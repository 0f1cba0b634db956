"""Build twice, in two places that differ in all that must not matter, and compare every byte.

``make verify`` builds everything that the configuration asks for; ``--reduced`` takes a small
configuration, and of it all stores, the claims, and tables and figures of own kernels, in about two
minutes. Further arguments are other targets of Snakemake. Not a test of the suite: too long.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from tests.workflow.scratch import SMALL, copy_sources, digests

SHOWN = 20
TARGETS = ("all",)
REDUCED_TARGETS = ("claims", "own")
# Folder, cores, and environment of each build.
PLACES = (
    ("a", "1", {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "80"}),
    (
        "a longer name/\u00fc",
        "2",
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Pacific/Chatham", "COLUMNS": "200"},
    ),
)


def copy(folder, reduced):
    """Copy what the workflow needs; loops are compiled anew, but for the reduced configuration."""
    copy_sources(folder, None if reduced else shutil.ignore_patterns("__pycache__"))
    if reduced:
        text = yaml.safe_dump(SMALL, sort_keys=False)
        (folder / "config/config.yaml").write_text(text, encoding="utf-8")


def build(folder, cores, environment, targets):
    """Build, and check what was built; gives what went wrong."""
    home = folder.parent / "home"
    home.mkdir()
    for module, *arguments in (
        ("snakemake", "--cores", cores, "--quiet", "all", "--", *targets),
        ("pipeline.check_results",),
    ):
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=folder,
            env=os.environ | environment | {"HOME": str(home), "PAPER_GPU_CACHE": "off"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            return f"{module} in {folder}:\n{done.stdout}"
    return ""


def compare(one, other):
    """Say which files are not the same in both."""
    names = sorted(one.keys() | other.keys())
    return [name for name in names if one.get(name) != other.get(name)]


def main():
    """Build and compare; the exit code is 1 where something differs."""
    parser = argparse.ArgumentParser(prog="make verify", description=__doc__)
    parser.add_argument("--reduced", action="store_true", help="a small configuration")
    parser.add_argument("targets", nargs="*", help="what to build instead")
    asked = parser.parse_args()
    targets = asked.targets or (REDUCED_TARGETS if asked.reduced else TARGETS)
    root = Path(tempfile.mkdtemp(prefix="verify-"))
    folders = [root / name / "copy" for name, _, _ in PLACES]
    for folder in folders:
        copy(folder, asked.reduced)
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(build, folder, cores, environment, targets)
            for folder, (_, cores, environment) in zip(folders, PLACES, strict=True)
        ]
    failed = [said for job in jobs if (said := job.result())]
    if failed:
        sys.stderr.write("\n".join(failed))
        return 1
    one, other = (digests(folder / "results") for folder in folders)
    differing = compare(one, other)
    if differing:
        lines = "\n".join(f"  {name}" for name in differing[:SHOWN])
        sys.stderr.write(
            f"{len(differing)} of {len(one)} files differ between {folders[0]} and {folders[1]}:\n"
            f"{lines}\n"
        )
        return 1
    total = hashlib.sha256("".join(f"{one[name]}  {name}\n" for name in sorted(one)).encode())
    shutil.rmtree(root)
    sys.stdout.write(f"{len(one)} files are the same in both builds.\n{total.hexdigest()}  all\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
