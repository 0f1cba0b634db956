"""What a megakernel runs: one decode step as instructions, dealt out to the SMs.

Every operation that reads weights is cut into at most one instruction per SM, each with a share of
its blocks of rows; attention is an instruction per head of keys and values and sequence. A matrix
with more columns than the model is wide is cut along them as well, so that a part of its input is
enough to begin.

Instructions wait at counters. A counter stands for an interval of a result: the instructions that
make some of it raise it, those that read it wait until all of them have.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal, TypeAlias

import numpy as np

from pipeline.decode.model import Model
from pipeline.decode.operations import Operation, Step
from pipeline.decode.primitives import LAYER, PRIMITIVES
from pipeline.decode.program import HEAD_LAYER, Program, lists
from pipeline.errors import ModelError

Assignment: TypeAlias = Literal["contiguous", "round_robin"]
Interval: TypeAlias = tuple[int, int]
"""First element, and the one after the last."""


@dataclass(frozen=True)
class Dealing:
    """How operations are cut.

    Attributes
    ----------
    n_sm
        SMs. Instructions are dealt out in turn, on from where the operation before stopped.
    assignment
        Which blocks of rows an instruction gets: neighbours, or every so many.
    rows_per_block
        Rows of a block.
    context, batch
        Tokens whose keys and values are read, per sequence, and sequences.
    """

    n_sm: int
    assignment: Assignment
    rows_per_block: int
    context: int
    batch: int


@dataclass(frozen=True)
class _Part:
    """One instruction, wherever it runs; intervals of elements that it reads and makes."""

    inputs: tuple[Interval, ...]
    outputs: tuple[Interval, ...]
    weight_bytes: float
    late_bytes: float
    numbers: float


def program(model: Model, step: Step, dealing: Dealing) -> Program:
    """Cut a decode step into instructions and deal them out.

    Parameters
    ----------
    model
        What is decoded.
    step
        Its operations, with plain numbers for sizes.
    dealing
        How they are cut.

    Raises
    ------
    ModelError
        If an operation reads neither weights nor keys and values, or something that the operation
        before it does not make.
    """
    _check(step)
    parts = {one.id: _parts(model, one, dealing) for one in step.operations}
    runs = [(layer, one) for layer in range(step.layers) for one in step.layer]
    runs += [(HEAD_LAYER, one) for one in step.head]
    order = [(layer, one, part) for layer, one in runs for part in parts[one.id]]
    waits, raises, n_counters = _counters([parts[one.id] for _, one in runs])
    names = tuple(one.id for one in step.operations)
    return Program(
        operations=names,
        n_sm=dealing.n_sm,
        n_counters=n_counters,
        operation=np.array([names.index(one.id) for _, one, _ in order]),
        layer=np.array([layer for layer, _, _ in order]),
        sm=np.arange(len(order)) % dealing.n_sm,
        weight_bytes=np.array([part.weight_bytes for _, _, part in order]),
        late_bytes=np.array([part.late_bytes for _, _, part in order]),
        numbers=np.array([part.numbers for _, _, part in order]),
        norms=np.array([_count(one, "norm") for _, one, _ in order]),
        waits=lists(waits),
        raises=lists(raises),
    )


def _count(one: Operation, kind: str) -> int:
    return sum(PRIMITIVES[name].kind == kind for name in one.primitives)


def _check(step: Step) -> None:
    # A layer begins with what the one before has left, the head with what the last one has.
    before = [step.layer[-1], *step.operations[:-1]]
    for one, previous in zip(step.operations, before, strict=True):
        spread = [name for name in one.primitives if PRIMITIVES[name].is_spread]
        if not spread:
            raise ModelError(
                f"megakernel: {one.id} ({', '.join(one.primitives)}) reads neither weights nor keys"
                f" and values; take a fusion plan that joins it with an operation that does"
            )
        missing = set().union(*map(_sources, spread)) - set(previous.primitives)
        if missing:
            raise ModelError(
                f"megakernel: {one.id} reads what {', '.join(sorted(missing))} makes, and the "
                f"operation before it is {previous.id}; take a fusion plan in which each operation "
                f"reads what the one before it makes"
            )


def _sources(name: str) -> set[str]:
    """Primitives that many blocks make and that ``name`` reads, through cheap ones or directly."""
    primitive = PRIMITIVES[name]
    if primitive.stage != LAYER or name in ("q", "k", "v"):
        return {"down"}
    found: set[str] = set()
    for needed in primitive.needs:
        found |= {needed} if PRIMITIVES[needed].is_spread else _sources(needed)
    return found


def _parts(model: Model, one: Operation, dealing: Dealing) -> list[_Part]:
    return (_matrix_parts if one.rows else _attention_parts)(model, one, dealing)


def _matrix_parts(model: Model, one: Operation, dealing: Dealing) -> list[_Part]:
    """Blocks of rows, times pieces of columns, in at most one instruction per SM."""
    columns = next(
        shape(model)[1] for name in one.primitives if (shape := PRIMITIVES[name].shape) is not None
    )
    # The rows of a gate and of what it gates lie next to each other: a block makes whole elements.
    per_element = 2 if "silu_multiply" in one.primitives else 1
    blocks = [
        (piece, (first, min(first + dealing.rows_per_block, one.rows)))
        for piece in _cut(columns, -(-columns // model.hidden))
        for first in range(0, one.rows, dealing.rows_per_block)
    ]
    bytes_per_number = one.weight_bytes / (one.rows * columns)
    parts = []
    for mine in _deal(blocks, dealing):
        weights = sum((c1 - c0) * (r1 - r0) for (c0, c1), (r0, r1) in mine)
        parts.append(
            _Part(
                inputs=tuple(dict.fromkeys(piece for piece, _ in mine)),
                outputs=tuple((r0 // per_element, -(-r1 // per_element)) for _, (r0, r1) in mine),
                weight_bytes=weights * bytes_per_number,
                late_bytes=0.0,
                numbers=float(weights * dealing.batch),
            )
        )
    return parts


def _attention_parts(model: Model, one: Operation, dealing: Dealing) -> list[_Part]:
    """One instruction per sequence and head of keys and values, with the queries that share it."""
    size, shared = model.head_size, model.heads // model.kv_heads
    count = model.kv_heads * dealing.batch
    parts = []
    for head in [head for _ in range(dealing.batch) for head in range(model.kv_heads)]:
        query = (head * shared * size, (head + 1) * shared * size)
        key = (model.query_size + head * size, model.query_size + (head + 1) * size)
        value = (key[0] + model.kv_size, key[1] + model.kv_size)
        parts.append(
            _Part(
                inputs=(query, key, value),
                outputs=(query,),
                weight_bytes=0.0,
                late_bytes=float(one.kv_bytes) / count,
                numbers=2.0 * size * dealing.context,
            )
        )
    return parts


def _cut(length: int, pieces: int) -> list[Interval]:
    return list(pairwise(one * length // pieces for one in range(pieces + 1)))


def _deal(
    blocks: Sequence[tuple[Interval, Interval]], dealing: Dealing
) -> list[Sequence[tuple[Interval, Interval]]]:
    count = min(dealing.n_sm, len(blocks))
    if dealing.assignment == "round_robin":
        return [blocks[one::count] for one in range(count)]
    return [blocks[first:end] for first, end in _cut(len(blocks), count)]


def _counters(
    runs: Sequence[Sequence[_Part]],
) -> tuple[list[list[int]], list[list[int]], int]:
    """Give a number to each interval that one run reads of what the run before makes.

    Returns
    -------
    Counters that each instruction waits for and raises, in order, and how many there are.
    """
    waits: list[list[int]] = [[] for _ in runs[0]]
    raises: list[list[int]] = []
    # Layers are alike: their runs are the same lists.
    known: dict[tuple[int, int], tuple[list[list[int]], list[list[int]], int]] = {}
    first = 0
    for makers, readers in pairwise(runs):
        pair = id(makers), id(readers)
        if pair not in known:
            known[pair] = _between(makers, readers)
        awaited, raised, count = known[pair]
        waits += [[first + one for one in each] for each in awaited]
        raises += [[first + one for one in each] for each in raised]
        first += count
    return waits, raises + [[] for _ in runs[-1]], first


def _between(
    makers: Sequence[_Part], readers: Sequence[_Part]
) -> tuple[list[list[int]], list[list[int]], int]:
    """As :func:`_counters`, of two runs that follow each other."""
    intervals = list(dict.fromkeys(chain.from_iterable(part.inputs for part in readers)))
    number = {interval: i for i, interval in enumerate(intervals)}
    awaited = [[number[interval] for interval in part.inputs] for part in readers]
    raised = [[number[one] for one in intervals if _overlap(part.outputs, one)] for part in makers]
    return awaited, raised, len(intervals)


def _overlap(made: Iterable[Interval], read: Interval) -> bool:
    return any(start < read[1] and read[0] < end for start, end in made)
