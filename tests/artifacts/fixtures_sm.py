"""Replays by hand, in the shape of the real stores: stalls as they might be."""

from functools import cache

import numpy as np
import pytest
import xarray as xr

from pipeline.counting.compiled_counts import twin
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_twin
from pipeline.measured.decode import decode_figures
from pipeline.measured.replay_study import replay_study
from pipeline.timing import replay_spans
from pipeline.timing.replay import REASONS
from pipeline.timing.sm.mechanisms import NAMES
from pipeline.timing.sm.result import PIPES, STALLS, Log, Prediction
from pipeline.vocab.sweeps import TILE_AXES
from tests.artifacts import fixtures

ARCHS = ("sm_86", "sm_80", "sm_90")
# Warp cycles out of a hundred, in the order of STALLS.
STALL_SHARES = {
    "k01_naive": (2, 1, 3, 50, 0, 0, 43, 0, 0, 0, 0, 1),
    "k02_coalesced": (10, 5, 8, 55, 0, 0, 20, 1, 0, 1, 0, 0),
    "k03_smem": (12, 10, 8, 10, 20, 25, 0, 3, 12, 0, 0, 0),
    "k04_blocktile_1d": (20, 18, 9, 6, 12, 20, 0, 4, 10, 1, 0, 0),
    "k05_blocktile_2d": (33, 20, 10, 8, 8, 4, 0, 10, 6, 1, 0, 0),
    "k06_vectorized": (38, 20, 10, 8, 4, 2, 0, 12, 5, 1, 0, 0),
}
# Kernels with spans -> resident warps.
SHOWN = {"k03_smem": 32, "k06_vectorized": 16, "k10_warptiled": 8}
LATER = (46, 16, 12, 4, 2, 1, 0, 13, 3, 2, 1, 0)


def _gflops():
    """Published rates; where there is none, nine tenths of the rate of the step before."""
    rates, previous = [], None
    for kernel in fixtures.LADDER:
        row = fixtures.PUBLISHED.get(kernel, (None,) * len(fixtures.CARDS))
        previous = [
            old * 0.9 if one is None else one for one, old in zip(row, previous or row, strict=True)
        ]
        rates.append(previous)
    return np.array(rates)


def sm_predictions():
    cards = fixtures.gpus()
    n = np.array(fixtures.LARGE)
    gflops = _gflops()[..., None] * (n / 4096) ** 0.1
    clocks = cards["clock_hz"].to_numpy()[:, None] * np.ones(len(n))
    t = 2 * n**3 / gflops / 1e9
    cycles = t * clocks
    shares = np.array([STALL_SHARES.get(kernel, LATER) for kernel in fixtures.LADDER]) / 100
    warps = np.array([32.0, 32, 32, 32, *[16] * 5, 12, 8, 8, 8])[:, None, None] * cycles
    over = ("kernel", "gpu", "n")
    used = np.linspace(0.1, 0.9, len(PIPES))
    scalars = {
        "t": t, "cycles": cycles, "gflops": gflops, "clock_hz": clocks + 0 * t,
        "launch_t": 3e-6 + 0 * t, "ipc": 2 + 0 * t, "warp_cycles": warps,
        "blocks_per_sm": 2 + 0 * t, "waves": 6.1 + 0 * t, "l1_hit_rate": 0.5 + 0 * t,
        "l2_bytes": n**2 * 400 + 0 * t, "dram_bytes": n**2 * 40 + 0 * t,
    }  # fmt: skip
    dataset = xr.Dataset(
        {name: (over, values) for name, values in scalars.items()}
        | {
            "utilisation": ((*over, "pipe"), used + 0 * t[..., None]),
            "stall_cycles": ((*over, "stall_reason"), warps[..., None] * shares[:, None, None, :]),
        },
        fixtures.ladder_coordinates()
        | {
            "gpu": list(fixtures.CARDS),
            "gpu_name": ("gpu", [card[0] for card in fixtures.CARDS.values()]),
            "arch": ("gpu", list(ARCHS)),
            "n": n,
            "pipe": list(PIPES),
            "pipe_meaning": ("pipe", list(PIPES.values())),
            **REASONS,
        },
    )
    return fixtures.labelled(dataset)


@cache
def _spans():
    gpus = sm_predictions()[["gpu", "gpu_name", "arch"]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_spans, "predict", _predicted)
        return replay_spans.replay_spans(
            [read_twin(kernel, "sm_86") for kernel in SHOWN],
            [twin(KERNELS[kernel]) for kernel in SHOWN],
            gpus, "rtx_a6000", 4096, 4000, 240,
        )  # fmt: skip


def _predicted(launch, gpu, window):
    log = _log(SHOWN[launch.program.kernel], len(launch.program.instructions), window.cycles)
    return Prediction(
        launch.program, "rtx_a6000", 1.0, 0.0, 1.0, 1e9, 1, 1.0, 1.0, {}, 1.0, np.zeros((1, 1)),
        np.zeros(1), 0.0, 0.0, 0.0, log,
    )  # fmt: skip


def _log(warps, instructions, cycles):
    """Warps in turn, each of which issues three times and then waits for something."""
    cycle, warp = np.meshgrid(np.arange(cycles), np.arange(warps), indexing="ij")
    turn, phase = np.divmod(cycle + 5 * (warp // 4), 3 * warps // 4 + 12)
    issues = phase < 3
    reasons = 1 + (turn + warp) % (len(STALLS) - 1)
    position = (3 * turn + np.minimum(phase, 3) + 20 * (warp // 4)) % instructions
    numbers = np.arange(warps, dtype=np.int32)
    return Log(
        4000,
        position.astype(np.int32),
        np.where(issues, 0, reasons).astype(np.int8),
        numbers % 4,
        numbers // 8,
    )


def ablation():
    """Errors without a mechanism as the study has them, a little different for each kernel."""
    rates = fixtures.sgemm_rates(fixtures.DATA / "measured/sgemm_ladder.csv")
    known = np.isin(rates["kernel"], list(fixtures.LADDER))
    rates = rates.isel(measurement=known)
    study = replay_study(fixtures.DATA / "measured/sm_ablation.csv")
    mechanisms = ["none", *NAMES]
    error = study["mean_error"].reindex(mechanism=mechanisms).drop_vars("mechanism").to_numpy()
    number = np.arange(rates.sizes["measurement"])
    off = np.nan_to_num(error, nan=0.061)[:, None] * (1 + (5 * number % 7 - 3) / 10)
    sign = np.where(number % 3 == 0, -0.5, 1)
    dataset = xr.Dataset(
        {
            "predicted_gflops": (
                ("mechanism", "measurement"),
                rates["measured_gflops"].to_numpy() * (1 + sign * off),
            ),
            "study_error": ("mechanism", error),
            **{name: rates[name] for name in ("measured_gflops", "kernel", "gpu", "n")},
        },
        {"mechanism": mechanisms},
    )
    return fixtures.labelled(dataset)


def gemvs():
    """Replays of published products that are a little off; the smallest by more."""
    measured = decode_figures(fixtures.DATA / "measured/decode.csv")
    rows = measured.isel(measurement=(measured["workload"] == "gemv").to_numpy())
    rows = rows.isel(measurement=(rows["columns"] % 256 == 0).to_numpy())
    number = np.arange(rows.sizes["measurement"])
    ratio = 0.9 + (3 * number % 5) / 20
    names = {"h100_sxm": "H100 SXM", "a100_sxm_80gb": "A100 SXM 80 GB"}
    dataset = xr.Dataset(
        {name: rows[name].drop_attrs() for name in ("gpu", "rows", "columns", "measured")}
    )
    dataset = dataset.assign(
        gpu_name=("measurement", [names[gpu] for gpu in rows["gpu"].to_numpy()]),
        weight_bytes=2 * dataset["rows"] * dataset["columns"],
        t=dataset["measured"] * ratio,
        launch_t=2e-6 + 0 * dataset["measured"],
        ratio=("measurement", ratio),
        dram_share=("measurement", 0.4 + number / 40),
        stall=("measurement", np.full(len(number), "long_scoreboard")),
    )
    return fixtures.labelled(dataset)


def tiles():
    """Tilings with rates that rise in one order by the roofline and in another by the replay."""
    rows = [
        (64, 128, 16, 32, 64, 1, 4, 4),
        (128, 128, 16, 64, 64, 4, 8, 4),
        (128, 128, 8, 64, 64, 2, 8, 8),
        (64, 64, 32, 32, 32, 1, 4, 4),
        (256, 128, 16, 64, 64, 2, 8, 4),
        (128, 64, 8, 64, 32, 2, 4, 4),
    ]
    columns = dict(zip(TILE_AXES, np.array(rows).T, strict=True))
    number = np.arange(len(rows))
    columns |= {
        "roofline_gflops": 19e3 + 3e3 * number,
        "replay_gflops": 12e3 + 1.7e3 * (5 * number % 7),
        "roofline_bound": np.array(["smem", "smem", "fma", "smem", "issue", "fma"]),
        "busiest": np.array(["l1_data", "fma_heavy", "fma_lite", "lsu", "issue", "l1_data"]),
        "stall": np.array(["wait", "selected", "mio_throttle"] * 2),
        "blocks_per_sm": 2 + number % 3,
        "registers": 100 + 20 * number,
        "measured_here": number == 1,
    }
    dataset = xr.Dataset(
        {name: ("tiling", values) for name, values in columns.items()},
        {
            "tiling": [str(row) for row in rows],
            "kernel": "k10_warptiled",
            "gpu": "rtx_a6000",
            "gpu_name": "RTX A6000",
            "n": 4096,
        },
    )
    return fixtures.labelled(dataset)


STORES = {
    "sm_predictions": sm_predictions,
    "sm_spans": lambda: _spans().copy(deep=True),
    "sm_ablation": ablation,
    "sm_gemvs": gemvs,
    "sm_tiles": tiles,
}
