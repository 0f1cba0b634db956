"""How fast sweeps are, as ratios within one run.

With ``--baseline reference.py`` (the lecture's implementation, whose ``timeline N`` prints
evaluations per second as JSON) the two are timed in turn. Each sweep runs in a process of its own,
so that its largest memory is its own.

Shown: rate and memory of the timeline sweep at several sizes, seconds per 1e8 further points, what
a reduction over each dimension of the largest store takes, and the time of the counts of tiles
with nothing compiled before.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline import store
from pipeline.config import decode_parameters, load, parameters
from pipeline.decode.execution import gpu_costs
from pipeline.decode.model_sheet import load_models
from pipeline.decode.plan_sheet import load_plans
from pipeline.hardware.gpus import gpus as figures
from pipeline.hardware.plain_figures import side_by_side
from pipeline.hardware.sheet import load_sheets
from pipeline.region_store import sweep_to
from pipeline.sweep.execute import Limits
from pipeline.sweep.plan import Budget
from pipeline.sweep.tile_counts import count_sweep
from pipeline.sweep.tile_points import TileSpace
from pipeline.sweep.timelines import ORDER, read_sweep

ROOT = Path(__file__).resolve().parents[1]
MEBIBYTE = 2**20
SCALES = (10, 30, 80)
UNLIMITED = Budget(10**12, 10**15, 10**9)


def settings():
    """Read the configuration as it stands."""
    return load.load(yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8")))


def timelines(scale: float):
    """Lay out the configured timeline sweep, refined."""
    config, data = settings(), ROOT / "data"
    decode = config.decode
    sheets = load_sheets(data / "gpus", config.gpus)
    (launched,) = load_sheets(data / "gpus", [decode.launch_gpu]).values()
    plans = decode_parameters.execution_plans(decode)
    workload = decode_parameters.workload(
        decode,
        load_models(data / "models", [config.lecture11.model]),
        load_plans(data / "fusion_plans", plans),
        [config.lecture11.model],
        plans,
    )
    space = config.sweeps.timeline.model_copy(update={"scale": scale})
    costs = gpu_costs(sheets, launched, decode.launch_costs == "own")
    return read_sweep(
        workload,
        decode_parameters.entries(decode.executions),
        side_by_side(costs),
        parameters.timeline_space(space),
    )


def tiles():
    """Lay out the configured counts of block tiles."""
    config = settings()
    space = parameters.tile_space(
        "tiles", parameters.TILED, config.sweeps.tiles, config.counting.wavefronts
    )
    sheets = load_sheets(ROOT / "data/gpus", config.gpus)
    return count_sweep(figures(sheets), TileSpace(**space))


def child(what: str, path: str, workers: int, scale: float) -> dict[str, float]:
    """Do one thing in this process, and measure it."""
    start = time.perf_counter()
    if what == "reduce":
        t = store.open_lazily(path)["t"]
        result = {}
        for dim in ORDER:
            begin = time.perf_counter()
            t.max(dim).max().compute(num_workers=workers)
            result[dim] = time.perf_counter() - begin
    else:
        sweep = tiles() if what == "tiles" else timelines(scale)
        sweep_to(path, sweep, [what, scale], Limits("threads", workers, UNLIMITED), None)
        points = sum(sweep.census(sweep.part(r))["none"] for r in sweep.regions())
        result = {"points": points}
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    took = {"seconds": time.perf_counter() - start, "cpu": time.process_time()}
    return result | took | {"memory": largest}


def measured(what: str, path: Path, workers: int, scale: float = 1, **environment: str):
    """Run :func:`child` in a process of its own."""
    arguments = [what, str(path), str(workers), str(scale)]
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    return json.loads(done.stdout.splitlines()[-1])


def baseline(script: Path | None) -> float | None:
    """Time the lecture's implementation once; give evaluations per second."""
    if script is None:
        return None
    done = subprocess.run(
        [sys.executable, script, "timeline", "5000"], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)["evaluations_per_second"]


def show_timelines(folder: Path, workers: int, script: Path | None, scales: list[float]) -> None:
    """Time the timeline sweep at several sizes, each between two runs of the baseline."""
    runs = []
    for scale in scales:
        before = baseline(script)
        run = measured("timeline", folder / f"{scale:g}.zarr", workers, scale)
        rates = [rate for rate in (before, baseline(script)) if rate]
        rate = run["points"] / run["seconds"]
        ratio = f", {rate / statistics.fmean(rates):,.0f} times the baseline" if rates else ""
        print(
            f"{run['points']:>13,} points in {run['seconds']:6.2f} s: {rate / 1e6:5.1f} million "
            f"per second{ratio}; {run['memory'] / MEBIBYTE:,.0f} MiB",
            flush=True,
        )
        runs.append(run)
    if len(runs) > 1:
        more = runs[-1]["points"] - runs[0]["points"]
        slope = (runs[-1]["seconds"] - runs[0]["seconds"]) / more
        print(f"slope: {1e8 * slope:.2f} s per 1e8 points, {1e9 * slope:.0f} s for 1e9")
    reduced = measured("reduce", folder / f"{scales[-1]:g}.zarr", workers)
    print("reduced over one dimension:", end=" ")
    print(", ".join(f"{dim} {reduced[dim]:.1f} s" for dim in ORDER), end="; ")
    print(f"{reduced['memory'] / MEBIBYTE:,.0f} MiB")


def main() -> None:
    """Show all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scales", type=float, nargs="+", default=SCALES)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        what, path, workers, scale = given.child
        print(json.dumps(child(what, path, int(workers), float(scale))))
        return
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        show_timelines(Path(folder), given.workers, given.baseline, given.scales)
        cold = {"NUMBA_CACHE_DIR": str(Path(folder) / "numba")}
        run = measured("tiles", Path(folder) / "tiles.zarr", given.workers, **cold)
        print(
            f"counts of tiles, compilation included: {run['points']:,} points in "
            f"{run['seconds']:.1f} s, {run['cpu']:.1f} s of one core"
        )


if __name__ == "__main__":
    main()
