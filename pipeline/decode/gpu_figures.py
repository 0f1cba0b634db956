"""What decoding depends on, per GPU: measured there, or else what others were measured at.

Every figure rests on rows of the published measurements; nothing is fitted here.
"""

from dataclasses import dataclass
from statistics import fmean

import numpy as np
import xarray as xr

from pipeline.decode.machine import Machine
from pipeline.errors import ModelError
from pipeline.vocab.decode_gpus import DECODE_GPUS
from pipeline.vocab.variable import annotate

PAGE_BYTES = 16 * 1024
# Of shared memory, the megakernel keeps one page's worth for its state (docs/MODEL.md).
_STATE_PAGES = 1
# A block of the probe that found how many are needed: 256 threads, each loading 16 B.
_PROBE_BLOCK_BYTES = 256 * 16


@dataclass(frozen=True)
class _Evidence:
    """Rows of the measurements that a figure is the mean of."""

    metrics: tuple[str, ...]
    mode: str = ""
    workload: str = ""


# What is measured on each GPU where somebody has, and taken from the others where nobody has.
_PER_GPU = {
    "read_share": _Evidence(("read_share",)),
    "dram_latency": _Evidence(("dram_latency",)),
    "memory_hop": _Evidence(("memory_hop",)),
    "launch_stream": _Evidence(("launch_cost", "kernel_overhead"), mode="stream"),
    "launch_graph": _Evidence(("launch_cost", "kernel_overhead"), mode="graph"),
}
_OF_SHEETS = (
    "sm_count",
    "dram_bandwidth",
    "clock_hz",
    "fp32_lanes_per_sm",
    "smem_per_block_max",
)
_SMALLEST_GEMV = _Evidence(("kernel_time",), workload="gemv")
# What is taken for a property of software, or of every SM alike.
_SHARED = {
    "gemv_reach": _Evidence(("gemv_reach",)),
    "attention_kernel": _Evidence(("kernel_time",), workload="attention"),
    "instruction_setup": _Evidence(("instruction_setup",)),
    "instruction_sync": _Evidence(("instruction_sync",)),
    "norm_time": _Evidence(("norm_time",)),
    "l2_bytes_per_clock_and_sm": _Evidence(("l2_bytes_per_clock_and_sm",)),
    "numbers_per_lane_and_clock": _Evidence(("numbers_per_lane_and_clock",)),
}


def decode_gpu_figures(measured: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Gather what the time of GEMV kernels and of a megakernel depends on.

    Parameters
    ----------
    measured : (measurement,)
        As ``decode_figures`` reads them.
    gpus : (gpu,)
        Sheets of the GPUs.

    Returns
    -------
    xarray.Dataset
        (gpu): figures in SI units, and ``is_measured`` (gpu, figure): whether it was measured on
        that very GPU.

    Raises
    ------
    ModelError
        If there is no measurement at all of some figure.
    """
    found = {name: _per_gpu(measured, gpus, name, which) for name, which in _PER_GPU.items()}
    found["smallest_gemv"] = _smallest_gemv(measured, gpus, found["launch_graph"][0])
    names = gpus["gpu_name"].variable
    gpus = gpus[[*_OF_SHEETS]].drop_attrs().reset_coords(drop=True)
    figures = gpus[["sm_count"]]
    for name, (values, _) in found.items():
        figures[name] = ("gpu", values)
    shared = {name: _mean(measured, name, which) for name, which in _SHARED.items()}
    figures["read_bandwidth"] = gpus["dram_bandwidth"] * figures["read_share"]
    figures["sm_read_bandwidth"] = shared.pop("l2_bytes_per_clock_and_sm") * gpus["clock_hz"]
    lanes = gpus["fp32_lanes_per_sm"] * gpus["clock_hz"]
    figures["multiply_rate"] = shared.pop("numbers_per_lane_and_clock") * lanes
    figures["prefetch_pages"] = gpus["smem_per_block_max"] // PAGE_BYTES - _STATE_PAGES
    for name, value in shared.items():
        figures[name] = xr.full_like(figures["read_share"], value)
    figures["in_flight_pages"] = xr.full_like(figures["prefetch_pages"], _in_flight(measured))
    figures["is_measured"] = (("gpu", "figure"), np.stack([own for _, own in found.values()], 1))
    figures = figures.assign_coords(figure=list(found), gpu_name=names)
    return annotate(figures, DECODE_GPUS)


def machine(figures: xr.Dataset) -> Machine:
    """Take the figures of one GPU for the schedule of a megakernel.

    Parameters
    ----------
    figures : ()
        One GPU of :func:`decode_gpu_figures`.
    """
    value = {str(name): held.item() for name, held in figures.data_vars.items() if not held.dims}
    return Machine(
        bandwidth=value["read_bandwidth"],
        latency=value["dram_latency"],
        sm_bandwidth=value["sm_read_bandwidth"],
        pages=int(value["prefetch_pages"]),
        page_bytes=PAGE_BYTES,
        in_flight=int(value["in_flight_pages"]),
        numbers_per_second=value["multiply_rate"],
        setup=value["instruction_setup"],
        # The result is stored, then the counter; the next one reads the counter, then the result.
        signal=2 * value["memory_hop"],
        fetch=2 * value["memory_hop"],
        sync=value["instruction_sync"],
        norm=value["norm_time"],
    )


def _rows(measured: xr.Dataset, which: _Evidence) -> xr.Dataset:
    """Rows of a figure; of GEMVs the smallest shape, which reads next to nothing."""
    chosen = measured["metric"].isin(list(which.metrics))
    for column in ("mode", "workload"):
        wanted = getattr(which, column)
        chosen = chosen & (measured[column] == wanted) if wanted else chosen
    rows = measured.isel(measurement=np.flatnonzero(chosen))
    if which.workload == "gemv":
        sizes = rows["rows"] * rows["columns"]
        rows = rows.isel(measurement=np.flatnonzero(sizes == sizes.min()))
    return rows


def _mean(measured: xr.Dataset, name: str, which: _Evidence) -> float:
    values = _rows(measured, which)["measured"].values.tolist()
    if not values:
        raise ModelError(
            f"decode: nobody has measured {name}; the table of measurements needs a row of metric "
            f"{' or '.join(which.metrics)}"
        )
    return fmean(values)


def _per_gpu(
    measured: xr.Dataset, gpus: xr.Dataset, name: str, which: _Evidence
) -> tuple[np.ndarray, np.ndarray]:
    """Values of each GPU, and whether they were measured on it."""
    rows = _rows(measured, which)
    of_all = _mean(measured, name, which)
    where = np.array(rows["gpu"].values.tolist())
    values = rows["measured"].values
    own = [values[where == gpu].tolist() for gpu in gpus["gpu"].values.tolist()]
    means = np.array([fmean(mine) if mine else of_all for mine in own])
    return means, np.array([bool(mine) for mine in own])


def _smallest_gemv(
    measured: xr.Dataset, gpus: xr.Dataset, launch: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where none was measured: the GPU's launch, and what lies between start and end elsewhere."""
    values, own = _per_gpu(measured, gpus, "smallest_gemv", _SMALLEST_GEMV)
    launches = _rows(measured, _PER_GPU["launch_graph"])
    times = _rows(measured, _SMALLEST_GEMV)
    bodies = [
        time - fmean(launches["measured"].values[launches["gpu"] == gpu].tolist())
        for gpu, time in zip(times["gpu"].values, times["measured"].values.tolist(), strict=True)
        if (launches["gpu"] == gpu).any()
    ]
    return np.where(own, values, launch + fmean(bodies)), own


def _in_flight(measured: xr.Dataset) -> int:
    """Pages under way per SM at which the probe of DRAM reads fastest."""
    prefix, suffix = "read_bandwidth_", "_blocks_per_sm"
    probes = {
        int(metric.removeprefix(prefix).removesuffix(suffix)): value
        for metric, value in zip(
            measured["metric"].values.tolist(), measured["measured"].values.tolist(), strict=True
        )
        if metric.startswith(prefix) and metric.endswith(suffix)
    }
    if not probes:
        raise ModelError(
            f"decode: nobody has measured how many blocks per SM saturate DRAM; the table of "
            f"measurements needs rows of metric {prefix}<blocks>{suffix}"
        )
    fastest = max(probes, key=probes.__getitem__)
    return max(1, fastest * _PROBE_BLOCK_BYTES // PAGE_BYTES)
