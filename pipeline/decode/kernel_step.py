"""Time of a decode step whose operations are kernels in a CUDA graph, one after the other.

Unlike the timeline of the lecture, this takes GEMV kernels as they are measured one by one.
"""

import xarray as xr

from pipeline.decode.gemv import Line, gemv_time
from pipeline.decode.operations import Amount, Operation, Step


def kernels_time(step: Step, figures: xr.Dataset) -> xr.DataArray:
    """Predict the time of a step (s).

    Parameters
    ----------
    step
        Its operations. One with weights is a GEMV, attention takes what it was measured to take
        with few tokens and reads its keys and values on top, any other takes what a GEMV takes
        that reads next to nothing.
    figures : (...)
        Those of :func:`pipeline.decode.gpu_figures.decode_gpu_figures`.
    """
    times = [one.count * _kernel_time(one, figures) for one in step.operations]
    return xr.DataArray(sum(times))


def line_time(step: Step, line: Line) -> Amount:
    """Time of a step (s) if every kernel takes what a straight line through GEMVs says."""
    total: Amount = sum(one.count * line.time(one.bytes) for one in step.operations)
    return total


def reading_only(step: Step) -> Step:
    """Leave out the operations that read neither weights nor keys and values."""
    return Step(
        step.layers,
        tuple(one for one in step.layer if _reads(one)),
        tuple(one for one in step.head if _reads(one)),
    )


def _reads(one: Operation) -> bool:
    return bool(one.rows) or "attention" in one.primitives


def _kernel_time(one: Operation, figures: xr.Dataset) -> xr.DataArray:
    if one.rows:
        return gemv_time(one.rows, one.weight_bytes / one.rows, figures)
    if "attention" in one.primitives:
        reading = one.kv_bytes / (figures["read_bandwidth"] * figures["gemv_reach"])
        return figures["attention_kernel"] + reading
    return figures["smallest_gemv"]
