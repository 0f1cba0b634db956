"""Where the time of one decode step goes, when nothing but reading and waiting takes any.

``bw = hbm * eff`` is the bandwidth that can be reached. Operations run one after the other.

kernels
    Each pays ``launch``. One that reads weights then takes ``ramp``, ``bytes / bw``, and a tail:
    its blocks run in whole waves, so reading takes ``waves * n_sm / blocks`` times as long as if
    all SMs were always at work. Any other is *small*: it takes ``small`` whatever it does, or as
    long as its keys and values take to read, should that be longer.
kernels with programmatic dependent launch (PDL)
    A kernel begins while the one before it drains: its launch, its ramp, and reading as many of its
    weights as fit into ``smem_buf`` of every SM can hide behind the tail of a reading kernel, or
    behind a small one, but for ``sync``, the time in which it learns that its input is there.
megakernel
    Instructions take ``bytes / bw`` and a stall: ``sync + instr_overhead`` less what it takes to
    fill the free pages of shared memory with the instruction's weights, which do not wait.

Nothing is computed, activations are free, and blocks are equal: the model is optimistic.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import xarray as xr

from pipeline.decode.operations import Amount, Operation, Step
from pipeline.decode.waves import sm_utilisation

PARTS = ("read", "launch", "ramp", "small", "tail", "stall")

Mode: TypeAlias = Literal["kernels", "pdl", "megakernel"]


@dataclass(frozen=True)
class TimelineParams:
    """What the time of a step depends on besides its operations; numbers or arrays.

    Attributes
    ----------
    n_sm
        SMs of the GPU.
    hbm
        DRAM bandwidth (B/s).
    launch
        From the end of one kernel to the start of the next (s).
    ramp
        From the start of a kernel to its first weights (s).
    small
        Time of a kernel that reads no weights (s).
    sync
        From a result being there to the next instruction seeing that it is (s).
    instr_overhead
        What a megakernel's instruction costs beyond reading and waiting (s).
    eff
        Share of ``hbm`` that reading reaches.
    smem_buf
        Shared memory of one SM that weights can be read ahead into (B); 0 for no prefetch.
    """

    n_sm: Amount
    hbm: Amount
    launch: Amount
    ramp: Amount
    small: Amount
    sync: Amount
    instr_overhead: Amount
    eff: Amount
    smem_buf: Amount


def timeline(step: Step, mode: Mode, parameters: TimelineParams) -> xr.Dataset:
    """Time one decode step.

    Parameters
    ----------
    step
        Its operations; their bytes and blocks may have dimensions.
    mode
        How they are launched.
    parameters : (...)
        Each with dimensions of its own, also lazy ones.

    Returns
    -------
    xarray.Dataset
        ``t``, ``ideal_t`` (everything read once at ``hbm``) and ``t_<part>`` for each part of ``t``
        (s); ``bandwidth_utilisation``; ``launches``. Each variable has only the dimensions that it
        depends on.
    """
    parts = dict.fromkeys(PARTS, 0.0) | _MODES[mode](step, parameters)
    total = sum(parts.values())
    ideal = step.bytes / parameters.hbm
    # Not by the names of the parts alone: some of them are names of parameters as well, and may be
    # dimensions.
    variables = {f"t_{name}": value for name, value in parts.items()} | {
        "t": total,
        "ideal_t": ideal,
        "bandwidth_utilisation": ideal / total,
        "launches": step.launches,
    }
    return xr.Dataset({name: _array(value) for name, value in variables.items()})


def _array(value: Amount) -> xr.DataArray:
    return value if isinstance(value, xr.DataArray) else xr.DataArray(value)


# Every sum below is taken before it meets the dimensions that its terms do not have.


def _kernels(step: Step, p: TimelineParams) -> dict[str, Amount]:
    reading, small = _by_kind(step.operations)
    bw = p.hbm * p.eff
    excess = _total((one.count, _excess(one, p)) for one in small if one.reads_kv)
    tail_bytes = _total((one.count, _tail_bytes(one, p)) for one in reading)
    return {
        "read": _total((one.count, one.bytes) for one in reading) / bw + excess,
        "launch": step.launches * p.launch,
        "ramp": sum(one.count for one in reading) * p.ramp,
        "small": sum(one.count for one in small) * p.small,
        "tail": tail_bytes / bw,
    }


def _megakernel(step: Step, p: TimelineParams) -> dict[str, Amount]:
    bw = p.hbm * p.eff
    alike: dict[int, int] = {}
    for one in step.operations:
        alike[one.weight_bytes] = alike.get(one.weight_bytes, 0) + one.count
    wait, ahead = p.sync + p.instr_overhead, p.smem_buf * p.n_sm
    stalls = (
        (count, xr.ufuncs.maximum(wait - xr.ufuncs.minimum(ahead, weights) / bw, 0.0))
        for weights, count in alike.items()
    )
    return {"read": step.bytes / bw, "stall": _total(stalls)}


def _pdl(step: Step, p: TimelineParams) -> dict[str, Amount]:
    """As kernels, less what hides: of the launch first, then of the ramp, then of reading."""
    hidden: dict[str, Amount] = dict.fromkeys(("launch", "ramp", "read"), 0.0)
    for one, before, count in _neighbours(step):
        hideable = _hideable(one, p)
        left = xr.ufuncs.minimum(
            _slack(before, p), xr.ufuncs.maximum(sum(hideable.values()) - p.sync, 0.0)
        )
        for name, whole in hideable.items():
            used = xr.ufuncs.minimum(left, whole)
            hidden[name] = hidden[name] + count * used
            left = left - used
    parts = _kernels(step, p)
    return parts | {name: parts[name] - hidden[name] for name in hidden}


def _hideable(one: Operation, p: TimelineParams) -> dict[str, Amount]:
    """List what a kernel can do before its input is there (s)."""
    if not one.rows:
        return {"launch": p.launch}
    ahead = xr.ufuncs.minimum(p.smem_buf * p.n_sm, one.weight_bytes)
    return {"launch": p.launch, "ramp": p.ramp, "read": ahead / (p.hbm * p.eff)}


def _slack(before: Operation, p: TimelineParams) -> Amount:
    """How long a kernel leaves SMs free before it ends (s)."""
    if before.rows:
        return _tail_bytes(before, p) / (p.hbm * p.eff)
    return p.small + _excess(before, p) if before.reads_kv else p.small


def _neighbours(step: Step) -> Iterator[tuple[Operation, Operation, int]]:
    """Every kernel with the one before it, and how often they follow each other.

    The first kernel of a step has none before it.
    """
    for stage, count in ((step.layer, step.layers), (step.head, 1)):
        for before, one in pairwise(stage):
            yield one, before, count
    yield step.layer[0], step.layer[-1], step.layers - 1
    yield step.head[0], step.layer[-1], 1


def _tail_bytes(one: Operation, p: TimelineParams) -> Amount:
    """Count what could have been read while SMs waited for the last wave (B)."""
    return one.bytes * (1 / sm_utilisation(one.blocks, p.n_sm) - 1)


def _excess(one: Operation, p: TimelineParams) -> Amount:
    """How much longer than ``small`` a small kernel reads (s)."""
    return xr.ufuncs.maximum(one.kv_bytes / (p.hbm * p.eff) - p.small, 0.0)


def _by_kind(operations: Iterable[Operation]) -> tuple[list[Operation], list[Operation]]:
    """Divide into those that read weights, and small ones."""
    both = list(operations)
    return [one for one in both if one.rows], [one for one in both if not one.rows]


def _total(terms: Iterable[tuple[int, Amount]]) -> Amount:
    return sum((count * value for count, value in terms), 0.0)


_MODES = {"kernels": _kernels, "pdl": _pdl, "megakernel": _megakernel}
