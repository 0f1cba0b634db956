"""How fast block programs run, beside Triton's own interpreter mode, in one run.

Triton is installed into an environment of its own in a temporary folder, or found with
``--triton-python``. Both sides run ``benchmarks/grouped_matmul.py`` (tiles of 64 by 64, steps of
32, groups of 8 rows) in turn, and medians over the rounds are compared. With ``--reference FILE``
nothing is timed: the programs of ``tests/data/triton_programs.txt`` are run by Triton, and their
results written down for the tests.
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

TRITON = "triton==3.9.0"
NUMPY = f"numpy=={np.__version__}"
PROGRAMS = ROOT / "tests/data/triton_programs.txt"
KERNEL = ROOT / "benchmarks/grouped_matmul.py"
SIDE = ROOT / "benchmarks/in_triton.py"
IMPORTS = {
    "import triton\n": "import pipeline.block_programs.triton as triton\n",
    "import triton.language as tl\n": "import pipeline.block_programs.language as tl\n",
}


def environment(folder: Path) -> Path:
    """Install Triton in an environment of its own; give its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    command = [python, "-m", "pip", "install", "--quiet", TRITON, NUMPY]
    subprocess.run(command, check=True)
    return python


def theirs(python: Path, *arguments: str) -> dict:
    """Run Triton's side and read what it prints."""
    command = [python, "-W", "ignore", SIDE, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def changed(folder: Path) -> Path:
    """Write the kernel with its imports changed, and nothing else."""
    text = KERNEL.read_text(encoding="utf-8")
    for line, ours in IMPORTS.items():
        text = text.replace(line, ours)
    path = folder / KERNEL.name
    path.write_text(text, encoding="utf-8")
    return path


def ours(path: Path, m: int, k: int) -> dict:
    """Time one launch here, as Triton's side does: (m, k) times (k, m)."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, m)))
    c = np.empty((m, m), np.float16)
    given = (a, b, c, m, m, k, k, 1, m, 1, m, 1)
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}
    programs = (m // 64) ** 2
    module.grouped_matmul[(1,)](*given, **blocks)
    start = time.perf_counter()
    module.grouped_matmul[(programs,)](*given, **blocks)
    seconds = time.perf_counter() - start
    error = float(np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max())
    return {"seconds": seconds, "programs": programs, "error": error}


def compare(python: Path, folder: Path, n: int, rounds: int) -> None:
    """Time both in turn, and print."""
    path = changed(folder)
    ours(path, n, n)  # compiles
    pairs = [
        (theirs(python, "matmul", str(KERNEL), str(n)), ours(path, n, n)) for _ in range(rounds)
    ]
    programs = pairs[0][0]["programs"]
    slow, fast = (statistics.median(pair[side]["seconds"] for pair in pairs) for side in (0, 1))
    errors = [max(pair[side]["error"] for pair in pairs) for side in (0, 1)]
    print(f"grouped matmul, n = {n}, {programs} programs, medians of {rounds} rounds")
    for name, seconds, error in (
        ("Triton's interpreter", slow, errors[0]),
        ("block programs", fast, errors[1]),
    ):
        each = 1e3 * seconds / programs
        print(f"  {name:22s} {each:8.2f} ms per program, largest error {error:.3f}")
    print(f"  {slow / fast:.0f} times faster")
    many = ours(path, 4 * n, n)
    print(f"{many['programs']} programs of the same depth here: {many['seconds']:.2f} s")


def main() -> None:
    """Install what is needed, then compare or write the reference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triton-python", type=Path, help="a Python that has Triton and numpy")
    parser.add_argument("--n", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reference", type=Path, help="write the results of the tests' programs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        python = given.triton_python or environment(folder / "triton")
        if given.reference:
            made_by = f"benchmarks/block_programs.py --reference, {TRITON} in interpreter mode"
            found = {"made by": made_by, "results": theirs(python, "reference", str(PROGRAMS))}
            given.reference.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
        else:
            compare(python, folder, given.n, given.rounds)


if __name__ == "__main__":
    main()
