"""What programs do to memory, and how they run: loads, stores, atomics, loops, assertions."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pipeline.block_programs import access, block_pointers, dtypes, traffic_fast
from pipeline.block_programs.arithmetic import is_number
from pipeline.block_programs.block import Block
from pipeline.block_programs.block_pointers import BlockPointer, Descriptor
from pipeline.block_programs.machine import agreed, current
from pipeline.block_programs.source import refusal, source
from pipeline.block_programs.tensor import Tensor, to_tensor
from pipeline.errors import KernelError, UnsupportedError

SEMANTICS = (None, "acquire", "release", "acq_rel", "relaxed")
SCOPES = (None, "gpu", "cta", "sys")
_SHOWN = 8


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Sequence[int] = (),
    padding_option: str = "",
    cache_modifier: str = "",  # noqa: ARG001 -- caches are not modelled
    eviction_policy: str = "",  # noqa: ARG001
    volatile: bool = False,  # noqa: ARG001
) -> Block:
    """Load a block of elements, or the tile of a block pointer."""
    machine = current("tl.load")
    if isinstance(pointer, BlockPointer):
        if mask is not None or other is not None:
            raise refusal("load of a block pointer takes boundary_check, not mask and other")
        return block_pointers.load(machine, pointer, _axes(boundary_check), padding_option)
    if boundary_check or padding_option:
        raise refusal(
            "boundary_check and padding_option are for block pointers; use mask and other"
        )
    return access.load(machine, pointer, mask, other)


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Sequence[int] = (),
    cache_modifier: str = "",  # noqa: ARG001 -- caches are not modelled
    eviction_policy: str = "",  # noqa: ARG001
) -> None:
    """Store a block of elements, or the tile of a block pointer."""
    machine = current("tl.store")
    if isinstance(pointer, BlockPointer):
        if mask is not None:
            raise refusal("store to a block pointer takes boundary_check, not mask")
        block_pointers.store(machine, pointer, value, _axes(boundary_check))
        return
    if boundary_check:
        raise refusal("boundary_check is for block pointers; use mask")
    access.store(machine, pointer, value, mask)


def _axes(boundary_check: Any) -> Sequence[int]:
    return (boundary_check,) if isinstance(boundary_check, int) else tuple(boundary_check or ())


def make_block_ptr(
    base: Block,
    shape: Sequence[Any],
    strides: Sequence[Any],
    offsets: Sequence[Any],
    block_shape: Sequence[int],
    order: Sequence[int],  # noqa: ARG001 -- a hint to the compiler
) -> BlockPointer:
    """Make a pointer to a tile of an array."""
    return BlockPointer(base, shape, strides, offsets, block_shape)


def advance(base: BlockPointer, offsets: Sequence[Any]) -> BlockPointer:
    """Move a block pointer by so many elements along each axis."""
    return base.advanced(offsets)


def make_tensor_descriptor(
    base: Block,
    shape: Sequence[Any],
    strides: Sequence[Any],
    block_shape: Sequence[int],
    padding_option: str = "zero",
) -> Descriptor:
    """Describe an array whose tiles are loaded and stored by offset."""
    return Descriptor(base, shape, strides, block_shape, padding_option)


def load_tensor_descriptor(desc: Descriptor, offsets: Sequence[Any]) -> Block:
    """Load the tile of a descriptor at ``offsets``."""
    return desc.load(offsets)


def store_tensor_descriptor(desc: Descriptor, offsets: Sequence[Any], value: Any) -> None:
    """Store the tile of a descriptor at ``offsets``."""
    desc.store(offsets, value)


def _atomic(
    pointer: Block,
    op: int,
    value: Any,
    mask: Any,
    sem: str | None,
    scope: str | None,
    cmp: Any = None,
) -> Block:
    if sem not in SEMANTICS or scope not in SCOPES:
        raise UnsupportedError(f"sem={sem!r}, scope={scope!r} is not supported here")
    return access.atomic(current("atomics"), pointer, op, value, mask, cmp)


def atomic_add(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Add to elements; return what was there before."""
    return _atomic(pointer, traffic_fast.ADD, val, mask, sem, scope)


def atomic_max(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Keep the larger; return what was there before."""
    return _atomic(pointer, traffic_fast.MAX, val, mask, sem, scope)


def atomic_min(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Keep the smaller; return what was there before."""
    return _atomic(pointer, traffic_fast.MIN, val, mask, sem, scope)


def atomic_and(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Bitwise and; return what was there before."""
    return _atomic(pointer, traffic_fast.AND, val, mask, sem, scope)


def atomic_or(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Bitwise or; return what was there before."""
    return _atomic(pointer, traffic_fast.OR, val, mask, sem, scope)


def atomic_xor(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Bitwise exclusive or; return what was there before."""
    return _atomic(pointer, traffic_fast.XOR, val, mask, sem, scope)


def atomic_xchg(
    pointer: Block, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Block:
    """Replace; return what was there before."""
    return _atomic(pointer, traffic_fast.XCHG, val, mask, sem, scope)


def atomic_cas(
    pointer: Block, cmp: Any, val: Any, sem: str | None = None, scope: str | None = None
) -> Block:
    """Replace where the element equals ``cmp``; return what was there before."""
    return _atomic(pointer, traffic_fast.CAS, val, None, sem, scope, cmp)


def loop(*bounds: Any, **hints: Any) -> Iterator[Tensor]:
    """Count like ``range``, with values that programs may hold differently.

    Programs of a batch go round together as long as they go round equally often.
    """
    unknown = set(hints) - {
        "num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer", "flatten",
        "warp_specialize", "disable_licm", "step",
    }  # fmt: skip
    if unknown:
        raise UnsupportedError(f"range: {', '.join(sorted(unknown))} is not supported here")
    start, stop, step = _bounds(bounds, hints.get("step"))
    for bound in (start, stop, step):
        if not (bound.dtype.is_int() if isinstance(bound, Block) else isinstance(bound, int)):
            raise refusal(f"range takes whole numbers, not {bound!r}")
    first, last, stride = (to_tensor(x).data.astype(np.int64) for x in (start, stop, step))
    if not stride.all():
        raise refusal("range: step is 0")
    rounds = agreed(np.atleast_1d(np.maximum(0, -((first - last) // stride))))
    dtype = dtypes.int32
    if any(not is_number(x) and x.dtype.primitive_bitwidth == 64 for x in (start, stop, step)):
        dtype = dtypes.int64
    for number in range(rounds):
        yield Tensor((first + number * stride).astype(dtype.held), dtype)


def _bounds(bounds: Sequence[Any], step: Any) -> tuple[Any, Any, Any]:
    if not 1 <= len(bounds) <= 3:
        raise refusal(f"range takes one to three bounds, not {len(bounds)}")
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    return start, stop, bounds[2] if len(bounds) == 3 else (1 if step is None else step)


def static_range(*bounds: Any, step: int | None = None) -> Iterator[int]:
    """Count with numbers that are known beforehand."""
    start, stop, stride = _bounds(bounds, step)
    if any(isinstance(x, Block) for x in (start, stop, stride)):
        raise refusal("static_range takes numbers that are known beforehand; use range")
    yield from range(start, stop, stride)


def static_assert(cond: Any, msg: str = "") -> None:
    """Stop unless a condition that is known beforehand holds."""
    if isinstance(cond, Block):
        raise refusal("static_assert takes what is known beforehand; use tl.device_assert")
    if not cond:
        raise KernelError(f"{source()}: static_assert failed: {msg}")


def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    """Stop unless a condition holds in every element of every program."""
    held = to_tensor(cond).data != 0
    if mask is not None:
        held = held | ~(to_tensor(mask).data != 0)
    failed = ~held.reshape(len(held), -1).all(axis=1)
    if failed.any():
        machine = current("tl.device_assert")
        row = int(failed.argmax()) if len(failed) > 1 else 0
        place = machine.place(int(machine.programs[row]))
        raise KernelError(f"{source()}: program {place}: assertion failed: {msg}")


def assume(cond: Any) -> None:
    """Check what the compiler may take for granted."""
    device_assert(cond, "what tl.assume states does not hold")


def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    """Keep a line per program in the launch's ``printed``; long blocks are cut."""
    machine = current("tl.device_print")
    if not isinstance(prefix, str):
        raise refusal(f'print takes a text before its values: print("value", ...), not {prefix!r}')
    for row, program in enumerate(machine.programs.tolist()):
        parts = [_text(to_tensor(arg), row, hex) for arg in args]
        place = machine.place(program)
        machine.printed.append((program, f"pid {place} {prefix}{' '.join(parts)}"))


def _text(value: Tensor, row: int, hexadecimal: bool) -> str:
    data = value.data[row if len(value.data) > 1 else 0].reshape(-1)
    shown = [f"{int(x):#x}" if hexadecimal else f"{x}" for x in data[:_SHOWN].tolist()]
    rest = ["..."] if data.size > _SHOWN else []
    return ", ".join(shown + rest) if value.shape else shown[0]


def static_print(*values: Any, sep: str = " ", **_: Any) -> None:
    """Keep a line in the launch's ``printed``."""
    machine = current("tl.static_print")
    machine.printed.append((int(machine.programs[0]), sep.join(map(str, values))))


def hinted(input: Any, values: Any) -> Any:  # noqa: ARG001 -- no access depends on it
    """Tell the compiler what divides the values, which follow one another, or are equal."""
    return input


def debug_barrier() -> None:
    """Wait for all threads of a program: they run in step here."""
