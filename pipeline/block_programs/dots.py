"""Products of blocks, as tensor cores do them: narrow factors, wide sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes
from pipeline.block_programs.block import Block
from pipeline.block_programs.dtypes import DType
from pipeline.block_programs.machine import Machine
from pipeline.block_programs.narrow import as_tf32
from pipeline.block_programs.source import refusal

PRECISIONS = ("tf32", "tf32x3", "ieee")
_FACTORS = (dtypes.int8, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def dot(
    machine: Machine,
    one: Block,
    two: Block,
    acc: Block | None,
    precision: str | None,
    out_dtype: DType | None,
) -> Block:
    """Multiply blocks (m, k) and (k, n), or batches of them, and add ``acc``.

    Parameters
    ----------
    machine
        Counts two FLOP per multiply-add.
    one, two
        Factors of one type; any two eight-bit floats go together.
    acc
        Sum so far.
    precision
        What float32 factors are rounded to: ``tf32`` to its ten fraction bits; ``ieee``,
        ``tf32x3`` and the default not at all.
    out_dtype
        Type of the result: float32 unless float16 is asked for; int32 of int8, float64 of float64.

    Raises
    ------
    KernelError
        If Triton would refuse types or shapes.
    """
    kind = _factor_type(one, two)
    _check_shapes(one, two)
    result = _result_type(kind, acc, out_dtype)
    left, right = _widened(one.data, kind), _widened(two.data, kind)
    if kind == dtypes.float32 and precision == "tf32":
        left, right = as_tf32(left), as_tf32(right)
    # Zero rows and columns stand for programs that all have the same factor.
    data = np.matmul(left, right)
    machine.count("dot_flops", 2 * machine.together * left[0].size * right.shape[-1])
    if acc is not None:
        data = data + _accumulated(acc, data.shape[1:], result)
    machine.notice(data)
    return one.like(data.astype(result.held, copy=False), result)


def _factor_type(one: Block, two: Block) -> DType:
    first, second = one.dtype, two.dtype
    if not isinstance(first, DType) or not isinstance(second, DType):
        raise refusal("dot takes numbers, not pointers")
    if first.is_fp8() and second.is_fp8():
        return first
    if first != second:
        raise refusal(f"dot takes factors of one type, not {first} and {second}")
    if first not in _FACTORS:
        names = ", ".join(map(str, _FACTORS))
        raise refusal(f"dot takes {names} and eight-bit floats, not {first}")
    return first


def _check_shapes(one: Block, two: Block) -> None:
    first, second = list(one.shape), list(two.shape)
    fits = len(first) == len(second) and len(first) in (2, 3)
    if not fits or first[-1] != second[-2] or first[:-2] != second[:-2]:
        raise refusal(f"dot: shapes {first} and {second} do not fit together")


def _result_type(kind: DType, acc: Block | None, wanted: DType | None) -> DType:
    if kind == dtypes.int8:
        return dtypes.int32
    if kind == dtypes.float64:
        return dtypes.float64
    if wanted == dtypes.bfloat16:
        raise refusal("dot gives no bf16; take float32 and convert with .to(tl.bfloat16)")
    if kind in (dtypes.float32, dtypes.bfloat16):
        return dtypes.float32
    if wanted is None and acc is not None and isinstance(acc.dtype, DType):
        return acc.dtype
    return wanted or dtypes.float32


def _widened(data: NDArray[Any], kind: DType) -> NDArray[Any]:
    """Factors in the type in which sums are exact enough: of int8 they are exact in float64."""
    if kind in (dtypes.int8, dtypes.float64):
        return data.astype(np.float64, copy=False)
    return data.astype(np.float32, copy=False)


def _accumulated(acc: Block, shape: tuple[int, ...], result: DType) -> NDArray[Any]:
    if tuple(acc.shape) != shape:
        raise refusal(f"dot: accumulator of shape {list(acc.shape)} for a product of {list(shape)}")
    if acc.dtype != result:
        raise refusal(f"dot: accumulator of type {acc.dtype} for a product of type {result}")
    return acc.data
