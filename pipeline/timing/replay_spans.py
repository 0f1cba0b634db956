"""A span of cycles of a replay: what every resident warp of one SM did."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.compiled.columns import instruction_columns
from pipeline.compiled.decode import Program
from pipeline.compiled.twin import Twin, square_product
from pipeline.timing.sm.numbers import SELECTED
from pipeline.timing.sm.predict import predict
from pipeline.timing.sm.result import STALLS, Log, Window
from pipeline.vocab.sm import SM_SPANS
from pipeline.vocab.variable import annotate

_ABSENT = -1
_COLUMNS = {
    **dict.fromkeys(("warp", "subcore", "block", "begin", "end"), np.int64),
    "state": np.str_,
    "span_instruction": np.int64,
    "text": np.str_,
    "opcode_class": np.str_,
    "source_line": np.int64,
}


def replay_spans(
    programs: Sequence[Program],
    launched: Sequence[Twin],
    gpus: xr.Dataset,
    gpu: str,
    n: int,
    first_cycle: int,
    cycles: int,
) -> xr.Dataset:
    """Replay a span of cycles of some kernels: an issue takes one, a stall as many as it lasts.

    Parameters
    ----------
    programs
        Kernels of the ladder, compiled for the GPU.
    launched
        How these and others are launched.
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them.
    gpu
        GPU to show; nothing if there are no programs.
    n
        Size of the matrices; or the next one that a kernel takes.
    first_cycle, cycles
        Where the span begins in the replay, and how long it is.

    Returns
    -------
    (span,)
        ``warp``, ``subcore``, ``block``, ``begin`` and ``end`` (cycles from the first of the
        span), ``state`` and the instruction that is issued or awaited; by kernel, warp and time.
        Cycles before the start and after the end of a warp have no span. Labels over (kernel,).
    """
    twins = {one.kernel: one for one in launched}
    shown = [(program, twins[program.kernel]) for program in programs]
    found = []
    for program, one in shown:
        product = square_product(program, one, one.next_size(n))
        window = Window(first_cycle, cycles)
        log = predict(product, gpus.sel(gpu=gpu), window=window).log
        found.append(_rows(log, program) if log else _no_rows())
    rows = {
        name: np.concatenate([_no_rows()[name], *(one[name] for one in found)]) for name in _COLUMNS
    }
    lengths = [len(one["warp"]) for one in found]
    rows["span_kernel"] = np.repeat(np.array([one.kernel for _, one in shown], str), lengths)
    labels = {
        "kernel": np.array([one.kernel for _, one in shown], str),
        "kernel_number": np.array([one.number for _, one in shown], np.int64),
        "kernel_label": np.array([one.label for _, one in shown], str),
        "n": np.array([one.next_size(n) for _, one in shown], np.int64),
    }
    dataset = xr.Dataset(
        {name: ("span", values) for name, values in rows.items()},
        {name: ("kernel", values) for name, values in labels.items()}
        | {"gpu": gpu, "gpu_name": str(gpus["gpu_name"].sel(gpu=gpu).item()) if gpu else ""}
        | {"first_cycle": first_cycle},
    )
    return annotate(dataset, SM_SPANS)


def _no_rows() -> dict[str, NDArray[Any]]:
    return {name: np.zeros(0, kind) for name, kind in _COLUMNS.items()}


def _rows(log: Log, program: Program) -> dict[str, NDArray[Any]]:
    """Cut a log where something else begins, warp by warp."""
    position, state = log.position.T, log.state.T
    warp, begin = np.nonzero(_begins(position, state))
    cycles = position.shape[1]
    end = np.where(np.append(warp[1:] == warp[:-1], False), np.append(begin[1:], 0), cycles)
    there = position[warp, begin] != _ABSENT
    warp, begin, end = warp[there], begin[there], end[there]
    instruction = position[warp, begin]
    found = {
        "warp": warp,
        "subcore": log.subcore[warp],
        "block": log.block[warp],
        "begin": begin,
        "end": end,
        "state": np.array(list(STALLS))[state[warp, begin]],
        "span_instruction": instruction,
        **{
            name: np.array(column)[instruction]
            for name, column in instruction_columns(program).items()
        },
    }
    return {name: found[name].astype(kind) for name, kind in _COLUMNS.items()}


def _begins(position: NDArray[np.int32], state: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Mark the cycles (warp, cycle) at which something else begins."""
    changed = (position[:, 1:] != position[:, :-1]) | (state[:, 1:] != state[:, :-1])
    issued = state[:, 1:] == SELECTED
    first = np.ones((len(position), 1), bool)
    return np.concatenate([first, changed | issued], axis=1)
