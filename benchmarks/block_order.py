"""How fast DRAM traffic is known for every group and GPU, as a ratio within one run.

Waves in closed form against the definition: every block of the launch listed, and for each wave its
distinct rows and columns counted by numpy. The definition is timed on a few groups of one GPU.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.hardware.gpus import gpus
from pipeline.hardware.sheet import load_sheets
from pipeline.timing.tile_order import tile_order
from pipeline.timing.waves import grouped_waves

ROOT = Path(__file__).resolve().parents[1]
SHEETS = ROOT / "data/gpus"


def touched(tiles: int, wave: int, group: int) -> tuple[int, int]:
    """Sum distinct tile rows and columns over the waves, by the definition."""
    number = np.arange(tiles * tiles) // wave
    rows, columns = (
        np.unique(number * tiles + axis).size for axis in tile_order(tiles, tiles, group)
    )
    return rows, columns


def seconds(rounds: int, run: Callable[[], object]) -> float:
    """Median time of ``run``, after one run that compiles."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=65536)
    parser.add_argument("--tile", type=int, default=128)
    parser.add_argument("--blocks-per-sm", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    sheets = load_sheets(SHEETS, sorted(path.stem for path in SHEETS.glob("*.yaml")))
    wave = given.blocks_per_sm * gpus(sheets)["sm_count"].to_numpy()[:, None]
    tiles = -(-given.n // given.tile)
    groups = np.arange(tiles + 1)

    def closed() -> object:
        size = {"tile_m": given.tile, "tile_n": given.tile}
        return grouped_waves(given.n, given.n, **size, wave=wave, group=groups)

    few = [1, 8, tiles // 2]
    fast = seconds(given.rounds, closed) / (wave.size * groups.size)
    slow = seconds(given.rounds, lambda: [touched(tiles, int(wave[0, 0]), g) for g in few]) / len(
        few
    )
    print(f"n = {given.n:,}, {tiles} by {tiles} tiles, {groups.size} groups, {wave.size} GPUs")
    print(f"  closed form, all of them  {1e3 * fast * wave.size * groups.size:10.2f} ms")
    print(f"  definition, one of them   {1e3 * slow:10.2f} ms")
    print(f"  times faster per launch   {slow / fast:10.0f}")


if __name__ == "__main__":
    main()
