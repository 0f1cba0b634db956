"""How fast the simulator is, as ratios within one run.

With ``--baseline reference.py`` (the lecture's implementation, whose ``counts N`` prints seconds
per kernel as JSON) the two are timed in turn, and medians over the rounds are compared. Without it,
only rates are printed.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.counting.simulate import factors
from pipeline.kernels.kernel import Kernel
from pipeline.kernels.matmul import counts, multiply
from pipeline.kernels.registry import KERNELS

ROOT = Path(__file__).resolve().parents[1]
LECTURE = list(KERNELS.values())[:6]


def ours(n: int) -> tuple[dict[str, float], dict[str, int]]:
    """Time every lecture kernel once; give seconds and warp instructions per kernel."""
    a, b = factors(n, 0)
    seconds, instructions = {}, {}
    for kernel in LECTURE:
        start = time.perf_counter()
        _, launched = multiply(kernel, a, b, kernel.options())
        seconds[kernel.id] = time.perf_counter() - start
        instructions[kernel.id] = launched.counters["warp_instr"]
    return seconds, instructions


def baseline(script: Path, n: int) -> dict[str, float]:
    """Time the lecture's implementation once, per kernel."""
    run = subprocess.run(
        [sys.executable, script, "counts", str(n)], check=True, capture_output=True, text=True
    )
    values = {
        name.split("@")[0]: found["seconds"] for name, found in json.loads(run.stdout).items()
    }
    return {kernel.id: values[f"k{kernel.number}"] for kernel in LECTURE}


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Median per kernel over the rounds, and of the totals."""
    result = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    return result | {"all": statistics.median(sum(one.values()) for one in rounds)}


def best(kernel: Kernel, n: int) -> float:
    """Best time of two full simulations at one size."""
    a, b = factors(n, 0)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        multiply(kernel, a, b, kernel.options())
        times.append(time.perf_counter() - start)
    return min(times)


def peak_mebibytes() -> float:
    """Largest memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def first_use() -> float:
    """Seconds from the start of a process to the end of its first, tiny simulation."""
    code = (
        "import numpy as np; from pipeline.kernels.matmul import multiply; "
        "from pipeline.kernels.registry import KERNELS; kernel = KERNELS['k01_naive']; "
        "a = np.ones((32, 32), np.float32); multiply(kernel, a, a, kernel.options())"
    )
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    return time.perf_counter() - start


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--baseline", type=Path, help="the lecture's reference.py")
    parser.add_argument("--n", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    ours(given.n)  # compiles
    rounds, theirs = [], []
    for _ in range(given.rounds):
        if given.baseline:
            theirs.append(baseline(given.baseline, given.n))
        seconds, instructions = ours(given.n)
        rounds.append(seconds)
    fast = medians(rounds)
    slow = medians(theirs) if theirs else {}
    instructions["all"] = sum(instructions.values())
    print(f"full simulation at n = {given.n}, medians of {given.rounds} rounds")
    for name, seconds in fast.items():
        rate = instructions[name] / seconds / 1e6
        ratio = f"{slow[name] / seconds:8.1f} times the baseline" if slow else ""
        print(f"  {name:20s} {seconds:8.4f} s {rate:8.1f} M warp instructions/s {ratio}")
    print("growth of the full simulation from n = 512 to 1024 (8 is cubic)")
    for kernel in LECTURE:
        short, long = (best(kernel, n) for n in (512, 1024))
        print(f"  {kernel.id:20s} {long / short:8.1f} times")
    print(f"  peak memory so far {peak_mebibytes():.0f} MiB")
    print(f"first use in a fresh process: counting after {first_use():.2f} s")
    print("exact counts at 4096 x 4096 x 4096")
    for kernel in KERNELS.values():
        start = time.perf_counter()
        counts(kernel, 4096, 4096, 4096)
        print(f"  {kernel.id:28s} {time.perf_counter() - start:6.2f} s")


if __name__ == "__main__":
    main()
