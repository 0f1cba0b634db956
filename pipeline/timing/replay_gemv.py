"""Matrix-vector products of a decode step: published times beside a replay of a kernel of ours."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pipeline.compiled.decode import Program
from pipeline.compiled.launch import Launch, Space, prepare
from pipeline.timing.replay import main_stall
from pipeline.timing.sm.predict import predict
from pipeline.vocab.sm import SM_GEMVS
from pipeline.vocab.variable import annotate

BF16_BYTES, FLOAT_BYTES = 2, 4
WARPS, COLUMNS_STEP = 8, 256
"""Rows of a block and the step between widths, as ``gemv_bf16.cu`` has them."""

_LANES = 32


def gemv(program: Program, rows: int, columns: int) -> Launch:
    """Return the launch of ``gemv_bf16.cu`` for a matrix of this shape, without values."""
    arrays = (
        Space(BF16_BYTES * rows * columns),
        Space(BF16_BYTES * columns),
        Space(FLOAT_BYTES * rows),
    )
    return prepare(program, -(-rows // WARPS), _LANES * WARPS, (*arrays, rows, columns))


def replay_gemvs(programs: Sequence[Program], measured: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Replay published products of a bfloat16 matrix and one vector.

    The kernels that were measured are those of libraries, with tricks of their own; the replay says
    what a plain kernel takes, and what it waits for.

    Parameters
    ----------
    programs
        ``gemv_bf16`` for some architectures.
    measured : (measurement,)
        Published figures of decoding: ``workload``, ``gpu``, ``rows``, ``columns``, ``dtype`` and
        ``measured`` (s).
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them.

    Returns
    -------
    (measurement,)
        Published time and replayed time ``t`` (s), of the products on GPUs that can be replayed,
        whose width the kernel takes.
    """
    by_arch = {program.architecture: program for program in programs}
    known = gpus.isel(gpu=gpus["arch"].isin(list(by_arch)).to_numpy())
    wanted = (
        (measured["workload"] == "gemv")
        & (measured["dtype"] == "bf16")
        & measured["gpu"].isin(known["gpu"])
        & (measured["columns"] % COLUMNS_STEP == 0)
    )
    names = ["gpu", "rows", "columns", "measured"]
    rows = measured[names].isel(measurement=wanted.to_numpy()).drop_attrs()
    cards = [known.sel(gpu=gpu) for gpu in rows["gpu"].to_numpy()]
    shapes = zip(rows["rows"].to_numpy(), rows["columns"].to_numpy(), strict=True)
    found = [
        predict(gemv(by_arch[str(card["arch"].item())], int(height), int(width)), card)
        for card, (height, width) in zip(cards, shapes, strict=True)
    ]
    result = rows.assign(
        gpu_name=("measurement", np.array([str(card["gpu_name"].item()) for card in cards], str)),
        weight_bytes=BF16_BYTES * rows["rows"] * rows["columns"],
        t=("measurement", np.array([one.seconds for one in found])),
        launch_t=("measurement", np.array([one.launch_seconds for one in found])),
        dram_share=("measurement", np.array([one.utilisation["dram"] for one in found])),
        stall=("measurement", np.array([main_stall(one) for one in found], str)),
    )
    return annotate(result.assign(ratio=result["t"] / result["measured"]), SM_GEMVS)
