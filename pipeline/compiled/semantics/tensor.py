"""Tensor-core instructions: how fragments lie in registers, and their products.

Layouts of fragments: PTX ISA, "Matrix fragments for mma". Lane l holds row l / 4 of A and C and
column l / 4 of B. Products of half-precision numbers are exact, their sums are in single precision;
hardware adds in an order and with a rounding of its own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Mask
from pipeline.compiled.geometry import WARP
from pipeline.compiled.instruction import Instruction, Operand, Register
from pipeline.compiled.machine import Machine
from pipeline.compiled.roles import widths
from pipeline.compiled.semantics.halves import from_half, to_half
from pipeline.compiled.semantics.memory import MachineBind
from pipeline.compiled.semantics.step import Step, refuse, values

_GROUP, _WITHIN = np.arange(WARP) // 4, np.arange(WARP) % 4
_INTEGERS = {"S8": np.int8, "U8": np.uint8}

Words = NDArray[np.uint32]
_TF32_BITS = np.uint32(0xFFFFE000)


def _words(machine: Machine, operand: Operand, count: int) -> Callable[[], Words]:
    """Return a reader of ``count`` registers, (count, warps, 32)."""
    registers = machine.registers
    zero = isinstance(operand, Register) and operand.number is None
    rows = [registers.row(operand, 0 if zero else word) for word in range(count)]
    return lambda: registers.rows[rows].reshape(count, -1, WARP)


def _unpack(words: Words, kind: str) -> NDArray:
    """Return the elements of registers, (registers, warps, 32, elements)."""
    if kind == "F16" or kind == "BF16":
        halves = [words, words >> np.uint32(16)]
        flat = [from_half(part.reshape(-1), kind == "BF16").reshape(words.shape) for part in halves]
        return np.stack(flat, axis=-1).astype(np.float64)
    if kind == "TF32":
        # The unit reads 19 bits of a word: what stands below them does not count.
        return (words & _TF32_BITS).view(np.float32)[..., None].astype(np.float64)
    return np.ascontiguousarray(words).view(_INTEGERS[kind]).reshape(*words.shape, 4)


def _place_a(parts: NDArray, columns: int) -> NDArray:
    """Lay the registers of A out as matrices, (warps, rows, columns)."""
    count, warps, _, per = parts.shape
    rows = 16 if count > 1 else 8
    matrix = np.zeros((warps, rows, columns), parts.dtype)
    for register in range(count):
        for element in range(per):
            row = _GROUP + 8 * (register % 2 if count > 1 else 0)
            column = _WITHIN * per + element + 4 * per * (register // 2)
            matrix[:, row, column] = parts[register, :, :, element]
    return matrix


def _place_b(parts: NDArray, rows: int) -> NDArray:
    """Lay the registers of B out as matrices, (warps, rows, 8)."""
    count, warps, _, per = parts.shape
    matrix = np.zeros((warps, rows, 8), parts.dtype)
    for register in range(count):
        for element in range(per):
            matrix[:, _WITHIN * per + element + 4 * per * register, _GROUP] = parts[
                register, :, :, element
            ]
    return matrix


def _accumulators(words: Words, kind: str) -> NDArray:
    """Return the elements of C in pairs of columns, (row groups, warps, 32, 2)."""
    if kind == "F16":
        return _unpack(words, "F16").astype(np.float32)
    view = words.view(np.int32 if kind == "S32" else np.float32)
    return np.stack([view[0::2], view[1::2]], axis=-1)


def _multiply(instruction: Instruction, machine: Machine) -> Step:
    """Bind HMMA and IMMA: d = a * b + c on one warp's fragments."""
    integer = instruction.opcode == "IMMA"
    source = next(
        (one for one in instruction.modifiers if one in ("BF16", "TF32", "S8", "U8")), "F16"
    )
    sum_kind = "S32" if integer else "F32" if instruction.has("F32") else "F16"
    if {"SP", "S4", "U4", "SAT"} & set(instruction.modifiers):
        raise refuse(instruction, "this kind of tensor-core product")
    spans = widths(instruction.opcode, instruction.modifiers, instruction.operands)
    target, (first, second, third) = instruction.operands[0], values(instruction)[:3]
    a, b, c = (
        _words(machine, one, span)
        for one, span in zip((first, second, third), spans[1:4], strict=True)
    )
    assert isinstance(target, Register)
    puts = [
        machine.registers.put(Register(target.file, (target.number or 0) + i))
        for i in range(spans[0])
    ]
    per = {"F16": 2, "BF16": 2, "TF32": 1, "S8": 4, "U8": 4}[source]
    depth = 4 * per * spans[2]

    def step(mask: Mask | None, _lanes: Mask) -> None:
        left = _place_a(_unpack(a(), source), depth)
        right = _place_b(_unpack(b(), source), depth)
        kind = np.int64 if integer else np.float64
        product = left.astype(kind) @ right.astype(kind)
        before = _accumulators(c(), sum_kind)
        after = []
        for group in range(before.shape[0]):
            columns = np.stack([_WITHIN * 2, _WITHIN * 2 + 1], axis=-1)
            rows = (_GROUP + 8 * group)[:, None]
            after.append(before[group] + product[:, rows, columns])
        for number, put in enumerate(puts):
            put(_result(after, number, sum_kind), mask)

    return step


def _result(after: list[NDArray], number: int, kind: str) -> Words:
    """Return one register of the result."""
    if kind == "F16":
        pair = after[number]
        return (to_half(pair[..., 0]) | to_half(pair[..., 1]) << np.uint32(16)).reshape(-1)
    value = after[number // 2][..., number % 2].reshape(-1)
    if kind == "S32":
        return value.astype(np.uint32)
    single: Words = value.astype(np.float32).view(np.uint32)
    return single


def _transpose(instruction: Instruction, machine: Machine) -> Step:
    """Bind MOVM.16.MT88: an 8 x 8 matrix of 16-bit elements, two to a lane, transposed."""
    if not {"16", "MT88"} <= set(instruction.modifiers):
        raise refuse(instruction, "this move of a matrix")
    registers = machine.registers
    value = registers.u32(values(instruction)[0])
    put = registers.put(instruction.operands[0])

    def step(mask: Mask | None, _lanes: Mask) -> None:
        matrix = np.ascontiguousarray(value()).view(np.uint16).reshape(-1, 8, 8)
        turned = np.ascontiguousarray(matrix.transpose(0, 2, 1))
        put(turned.view(np.uint32).reshape(-1), mask)

    return step


def _multiply_doubles(instruction: Instruction, machine: Machine) -> Step:
    """Bind DMMA: d = a * b + c on matrices of 8 x 4, 4 x 8 and 8 x 8 doubles."""
    if instruction.modifiers not in (("884",), ("8x8x4",)):
        raise refuse(instruction, "this kind of tensor-core product")
    registers, target = machine.registers, instruction.operands[0]
    a, b = (registers.f64(one) for one in values(instruction)[:2])
    third = values(instruction)[2]
    assert isinstance(target, Register)
    assert isinstance(third, Register)
    c = [registers.f64(_double(third, column)) for column in range(2)]
    puts = [registers.put64(_double(target, column)) for column in range(2)]

    def step(mask: Mask | None, _lanes: Mask) -> None:
        left = a().reshape(-1, 8, 4)
        right = b().reshape(-1, 8, 4).transpose(0, 2, 1)
        before = [one().reshape(-1, WARP) for one in c]
        product = left @ right
        for column, put in enumerate(puts):
            total = before[column] + product[:, _GROUP, 2 * _WITHIN + column]
            put(total.reshape(-1).view(np.uint64), mask)

    return step


def _double(one: Register, number: int) -> Register:
    """Return one of the doubles that start at a register."""
    return Register(one.file, None if one.number is None else one.number + 2 * number)


BINDERS: dict[str, MachineBind] = {
    "HMMA": _multiply,
    "IMMA": _multiply,
    "DMMA": _multiply_doubles,
    "MOVM": _transpose,
}
