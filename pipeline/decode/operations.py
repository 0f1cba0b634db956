"""The operations of one decode step, with the bytes that each reads.

Weights are read once per step, whatever the batch: every sequence uses the same. Keys and values
are read once per sequence, so they grow with context and batch. Activations, a vector per sequence
of at most a few hundred KiB in all, stay on the chip; the new keys and values are written back, one
token of them. Neither is counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import xarray as xr

from pipeline.decode.fusion_plan import FusionPlan
from pipeline.decode.model import Model
from pipeline.decode.number_format import NumberFormat
from pipeline.decode.primitives import PRIMITIVES, primitives_of

Amount: TypeAlias = int | float | xr.DataArray
"""A number, or an array with dimensions of its own."""


@dataclass(frozen=True)
class Formats:
    """Number formats of what a step reads.

    Attributes
    ----------
    weights
        Of the matrices in the layers.
    lm_head
        Of the matrix of the head, which quantised models often leave as it was.
    kv_cache
        Of keys and values; their groups run along a head.
    """

    weights: NumberFormat
    lm_head: NumberFormat
    kv_cache: NumberFormat


@dataclass(frozen=True)
class Operation:
    """Primitives that run together: a kernel, or an instruction of a megakernel.

    Attributes
    ----------
    id
        Name of the group.
    primitives
        What it does, in order.
    count
        How often it runs in a step: once per layer, or once.
    rows
        Rows of its weight matrices; 0 without weights.
    weight_bytes
        Weights that one run reads (B), scales included.
    kv_bytes
        Keys and values that one run reads (B).
    blocks
        Thread blocks of one run: a share of the rows each, or a head of keys and values of one
        sequence, or a sequence.
    """

    id: str
    primitives: tuple[str, ...]
    count: int
    rows: int
    weight_bytes: int
    kv_bytes: Amount
    blocks: Amount

    @property
    def reads_kv(self) -> bool:
        """Whether it reads keys and values."""
        return "attention" in self.primitives

    @property
    def bytes(self) -> Amount:
        """All that one run reads (B)."""
        return self.weight_bytes + self.kv_bytes


@dataclass(frozen=True)
class Step:
    """One decode step: the operations of a layer, run layer after layer, then those of the head."""

    layers: int
    layer: tuple[Operation, ...]
    head: tuple[Operation, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Each different operation once, in order."""
        return self.layer + self.head

    @property
    def launches(self) -> int:
        """Operations that run in a step."""
        return sum(one.count for one in self.operations)

    @property
    def bytes(self) -> Amount:
        """All that the step reads (B)."""
        return sum(one.count * one.bytes for one in self.operations)


def step(
    model: Model,
    plan: FusionPlan,
    formats: Formats,
    context: Amount,
    batch: Amount,
    rows_per_block: int,
) -> Step:
    """Derive the operations of one decode step.

    Parameters
    ----------
    model
        Any decoder.
    plan
        What runs together. A group that is empty for the model is left out.
    formats
        Of weights, head, keys and values.
    context : (...)
        Tokens of each sequence whose keys and values are read.
    batch : (...)
        Sequences that are decoded together.
    rows_per_block
        Rows of a weight matrix that one block multiplies.
    """
    sizes = _Sizes(model, formats, context, batch, rows_per_block)
    return Step(
        model.layers,
        _stage(sizes, plan.layer, model.layers),
        _stage(sizes, plan.head, 1),
    )


@dataclass(frozen=True)
class _Sizes:
    """All that the size of an operation depends on."""

    model: Model
    formats: Formats
    context: Amount
    batch: Amount
    rows_per_block: int


def _stage(sizes: _Sizes, groups: Mapping[str, Sequence[str]], count: int) -> tuple[Operation, ...]:
    there = primitives_of(sizes.model)
    kept = {group: tuple(n for n in names if n in there) for group, names in groups.items()}
    return tuple(_operation(sizes, group, names, count) for group, names in kept.items() if names)


def _operation(sizes: _Sizes, group: str, names: tuple[str, ...], count: int) -> Operation:
    shapes = {
        name: shape(sizes.model) for name in names if (shape := PRIMITIVES[name].shape) is not None
    }
    rows = sum(rows for rows, _ in shapes.values())
    reads_kv = "attention" in names
    return Operation(
        id=group,
        primitives=names,
        count=count,
        rows=rows,
        weight_bytes=sum(
            _format(sizes.formats, name).bytes(*shape) for name, shape in shapes.items()
        ),
        kv_bytes=_kv_bytes(sizes) if reads_kv else 0,
        blocks=_blocks(sizes, rows, reads_kv),
    )


def _format(formats: Formats, name: str) -> NumberFormat:
    return formats.lm_head if name == "lm_head" else formats.weights


def _kv_bytes(sizes: _Sizes) -> Amount:
    """Keys and values of every token of every sequence, in one layer (B)."""
    per_token = 2 * sizes.formats.kv_cache.bytes(sizes.model.kv_heads, sizes.model.head_size)
    return per_token * sizes.context * sizes.batch


def _blocks(sizes: _Sizes, rows: int, reads_kv: bool) -> Amount:
    if rows:
        return -(-rows // sizes.rows_per_block)
    return sizes.batch * (sizes.model.kv_heads if reads_kv else 1)
