"""Error of the SM replay against published rates: ``python -m benchmarks.sm_model``.

``--ablation`` adds the mean error with each mechanism left out, ``--profile KERNEL GPU`` where the
cycles of one prediction go.
"""

import argparse
import time
from pathlib import Path
from statistics import correlation, fmean

import pandas as pd
import xarray as xr

from pipeline.hardware.sheet import load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.listing_files import listings_of, program_finder
from pipeline.measured.kernels import sgemm_rates
from pipeline.published_listings import published_finder, published_listings
from pipeline.timing.replay_measured import measured_launches
from pipeline.timing.sm.ablation import MeasuredLaunch, ablation
from pipeline.timing.sm.predict import predict

MEASURED = Path("data/measured/sgemm_ladder.csv")
NOT_JUDGED = ("k11_double_buffered", "k12_double_buffered_async")


def published_launches(gpus: xr.Dataset) -> list[MeasuredLaunch]:
    """Read published rates of kernels of the ladder, and the code that was measured."""
    archs = gpus["arch"].to_series().unique()
    find = program_finder(listings_of(archs))
    published = published_finder(published_listings(archs))
    return list(measured_launches(sgemm_rates(MEASURED), gpus, find, published).values())


def error_table(launches: list[MeasuredLaunch], gpus: xr.Dataset) -> pd.DataFrame:
    """Return the error of every prediction, predicted rate over measured - 1."""
    rows = []
    for one in launches:
        start = time.process_time()
        seconds = predict(one.traced, gpus.sel(gpu=one.gpu)).seconds
        rows.append(
            {
                "kernel": one.kernel[:3],
                "gpu": one.gpu,
                "measured": one.seconds,
                "predicted": seconds,
                "error": one.seconds / seconds - 1,
                "cpu": time.process_time() - start,
                "judged": one.kernel not in NOT_JUDGED,
            }
        )
    return pd.DataFrame(rows)


def print_errors(frame: pd.DataFrame) -> None:
    """Print errors by GPU and kernel, with their means and the rank correlation."""
    wide = 100 * frame.pivot_table(index="gpu", columns="kernel", values="error", sort=False)
    judged = frame[frame["judged"]]
    groups = dict(list(judged.groupby("gpu", sort=False)))
    wide["MAPE"] = {gpu: 100 * fmean(rows["error"].abs()) for gpu, rows in groups.items()}
    wide["rank"] = {
        gpu: correlation(*(rows[name].rank().tolist() for name in ("measured", "predicted")))
        for gpu, rows in groups.items()
    }
    print(wide.round(2).to_string(na_rep="", float_format=lambda value: f"{value:.2f}"))
    print(f"mean of {len(judged)}: {100 * fmean(judged['error'].abs()):.2f} %", end=", ")
    print(f"largest {100 * judged['error'].abs().max():.1f} %", end=", ")
    print(f"{fmean(frame['cpu']):.3f} s of CPU for a prediction")


def print_ablation(launches: list[MeasuredLaunch], gpus: xr.Dataset) -> None:
    """Print the mean error with each mechanism left out, the largest first."""
    judged = [one for one in launches if one.kernel not in NOT_JUDGED]
    start = time.process_time()
    mape = 100 * ablation(judged, gpus)["mape"].to_series()
    print(mape.sort_values(ascending=False).round(2).to_string())
    print(f"{time.process_time() - start:.1f} s of CPU")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--profile", nargs=2, metavar=("KERNEL", "GPU"))
    options = parser.parse_args()
    gpus = sm_gpus(load_sheets(Path("data/gpus")))
    launches = published_launches(gpus)
    if options.profile:
        kernel, gpu = options.profile
        one = next(one for one in launches if (one.kernel[:3], one.gpu) == (kernel[:3], gpu))
        found = predict(one.traced, gpus.sel(gpu=gpu))
        for reason, cycles in found.by_reason.items():
            print(f"{reason:20} {100 * cycles / found.warp_cycles:6.1f} %")
        for pipe, share in found.utilisation.items():
            print(f"{pipe:20} {100 * share:6.1f} % busy")
        return
    print_errors(error_table(launches, gpus))
    if options.ablation:
        print_ablation(launches, gpus)


if __name__ == "__main__":
    main()
