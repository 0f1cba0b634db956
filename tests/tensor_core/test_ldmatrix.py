"""ldmatrix and stmatrix: against CuTe, each other, and together with mma."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import MisalignedError, ModelError, OutOfRangeError
from pipeline.tensor_core.element_types import ELEMENT_TYPES, to_tf32
from pipeline.tensor_core.fragments import fragment, matrix
from pipeline.tensor_core.ldmatrix import ldmatrix, operand_rows, sources, stmatrix
from pipeline.tensor_core.mma import mma
from pipeline.tensor_core.shapes import MMA_SHAPES, wgmma
from tests.tensor_core.test_fragments import rows

TYPED = [(shape, name) for shape in MMA_SHAPES.values() for name in shape.types]
WAYS = [
    (shape, name, transposed)
    for shape, name in TYPED
    for transposed in ([False, True] if shape.element_bits == 16 else [False])
]


def random_elements(generator, name, shape):
    if ELEMENT_TYPES[name].kind in "iu":
        least = np.iinfo(ELEMENT_TYPES[name]).min
        return generator.integers(least, least + 256, shape).astype(ELEMENT_TYPES[name])
    values = generator.normal(size=shape).astype(np.float32)
    return to_tf32(values) if name == "tf32" else values.astype(ELEMENT_TYPES[name])


def in_memory(generator, stored, shape, operand, transposed):
    """Rows of matrices in a memory that is wider, and the address of the row of each lane."""
    warps, height, width = stored.shape
    size = stored.itemsize
    pitch = -(-width * size // 16) * 16 + 16 * int(generator.integers(0, 4))
    memory = np.zeros((warps, (height + 2) * pitch), np.uint8)
    cells = memory.reshape(warps, height + 2, pitch)
    cells[:, 1:-1, : width * size] = np.ascontiguousarray(stored).view(np.uint8)
    place = operand_rows(shape, operand, transposed)
    address = (place[:, 0] + 1) * pitch + place[:, 1] * size
    return memory, np.broadcast_to(address, (warps, address.size))


@pytest.mark.parametrize("instruction", ["ldmatrix", "stmatrix"])
def test_sources__are_those_of_cute(instruction):
    compared = 0
    for row in rows("moves"):
        if row["instruction"] == instruction:
            pieces, lane = int(row["pieces"]), int(row["lane"])
            held = sources(pieces, row["transposed"] == "1")[:, lane].reshape(2, -1).T
            assert " ".join(f"{a}:{b}" for a, b in held) == row["places"], row
            compared += 1
    assert compared == 6 * 32


@pytest.mark.parametrize(("shape", "name", "transposed"), WAYS)
@given(seed=st.integers(0, 2**32 - 1))
def test_ldmatrix_then_mma__is_the_matrix_product(shape, name, transposed, seed):
    generator = np.random.default_rng(seed)
    kind = ELEMENT_TYPES[name]
    warps = int(generator.integers(1, 4))
    whole, held = {}, {}
    for operand in "AB":
        full = random_elements(generator, name, (warps, *shape.extent(operand)))
        # As a lane reads it, A lies in rows and B in columns; transposed the other way round.
        stored = full if (operand == "A") != transposed else full.swapaxes(1, 2)
        memory, address = in_memory(generator, stored, shape, operand, transposed)
        registers = ldmatrix(memory, address, address.shape[-1] // 8, transposed)
        whole[operand], held[operand] = full, registers.view(kind)
        assert np.array_equal(held[operand], fragment(full, shape, operand))
    sums = np.int32 if kind.kind in "iu" else np.float32
    exact = np.int64 if kind.kind in "iu" else np.float64
    start = generator.integers(-1000, 1000, (warps, shape.m, shape.n)).astype(sums)
    result = matrix(mma(shape, held["A"], held["B"], fragment(start, shape, "C")), shape, "C")
    wanted = whole["A"].astype(exact) @ whole["B"].astype(exact) + start
    assert result.dtype == sums
    if sums is np.int32:
        assert np.array_equal(result, wanted)
    else:
        # Rounded once; sums in float64 may differ in their last bit.
        np.testing.assert_allclose(result, wanted, rtol=2**-23)


@given(st.sampled_from([1, 2, 4]), st.booleans(), st.integers(0, 2**32 - 1))
def test_stmatrix__is_the_inverse_of_ldmatrix(pieces, transposed, seed):
    generator = np.random.default_rng(seed)
    memory = generator.integers(0, 2**16, (3, 512)).astype(np.uint16)
    address = 16 * np.array([generator.permutation(64)[: 8 * pieces] for _ in range(3)])
    registers = ldmatrix(memory, address, pieces, transposed)
    assert registers.shape == (3, 32, pieces)
    copy = np.zeros_like(memory)
    stmatrix(copy, address, registers, transposed)
    rows_of = np.zeros((3, 64), bool)
    np.put_along_axis(rows_of, address // 16, True, axis=1)
    assert np.array_equal(copy, np.where(np.repeat(rows_of, 8, axis=1), memory, 0))


def test_stmatrix__stores_rounded_sums_row_by_row():
    shape = MMA_SHAPES["m16n8k16"]
    sums = np.arange(128, dtype=np.float16).reshape(16, 8)
    memory = np.zeros(128, np.float16)
    address = operand_rows(shape, "C")[:, 0] * 16
    stmatrix(memory, address, fragment(sums, shape, "C").view(np.uint32))
    assert np.array_equal(memory.reshape(16, 8), sums)


def test_ldmatrix__one_memory_serves_many_warps():
    memory = np.arange(256, dtype=np.float16)
    address = 16 * np.arange(32).reshape(2, 2, 8)
    held = ldmatrix(memory, address, 1).view(np.float16)
    assert np.array_equal(held.reshape(2, 2, 64).ravel(), memory)
    per_block = np.stack([memory, memory + 256])[:, None]
    held = ldmatrix(per_block, address, 1).view(np.float16)
    assert np.array_equal(held.reshape(2, 128), [memory[:128], memory[128:] + 256])


def test_ldmatrix__of_no_warps_is_nothing():
    assert ldmatrix(MEMORY, np.zeros((0, 8), int), 1).shape == (0, 32, 1)


def test_ldmatrix__ignores_addresses_of_further_lanes():
    address = np.full(32, -1)
    address[:8] = 16 * np.arange(8)
    assert ldmatrix(np.zeros(64, np.float16), address, 1).shape == (32, 1)


EIGHT = 16 * np.arange(8)
MEMORY = np.zeros(64, np.float16)
THREE = np.zeros((3, 32, 1), np.uint32)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: ldmatrix(MEMORY, EIGHT, 1.0), ModelError, "move 1, 2 or 4 pieces; given 1.0"),
        (lambda: ldmatrix(MEMORY[:0], EIGHT, 1), ModelError, r"memory of shape \(0,\)"),
        (lambda: ldmatrix(MEMORY.astype(object), EIGHT, 1), ModelError, "not Python objects"),
        (
            lambda: stmatrix(np.frombuffer(bytes(128)), EIGHT, np.zeros((32, 1), np.uint32)),
            ModelError,
            "one whole array that can be written",
        ),
        (
            lambda: stmatrix(np.zeros((2, 64), np.float16), np.stack([EIGHT] * 2), THREE),
            ModelError,
            r"registers of shape \(3, 32, 1\) and addresses of shape \(2, 8\)",
        ),
        (lambda: ldmatrix(MEMORY, EIGHT, 3), ModelError, "move 1, 2 or 4 pieces; given 3"),
        (lambda: ldmatrix(MEMORY, EIGHT, 2), ModelError, "addresses of 16 lanes; given int64"),
        (lambda: ldmatrix(MEMORY, EIGHT / 1.0, 1), ModelError, "whole numbers.*given float64"),
        (lambda: ldmatrix(MEMORY, EIGHT + 2, 1), MisalignedError, "lane 0 points at byte 2; a row"),
        (
            lambda: ldmatrix(MEMORY, EIGHT + 16, 1),
            OutOfRangeError,
            "lane 7 points at byte 128; shared memory has 128 bytes",
        ),
        (lambda: ldmatrix(MEMORY, EIGHT - 16, 1), OutOfRangeError, "lane 0 points at byte -16"),
        (
            lambda: ldmatrix(np.zeros((2, 64), np.float16), EIGHT, 1),
            ModelError,
            r"memory of shape \(2, 64\) and addresses of shape \(8,\)",
        ),
        (
            lambda: ldmatrix(np.zeros((2, 64), np.float16), np.stack([EIGHT] * 3), 1),
            ModelError,
            r"memory of shape \(2, 64\) and addresses of shape \(3, 8\)",
        ),
        (
            lambda: ldmatrix(np.float16(0), EIGHT, 1),
            ModelError,
            "2 bytes; must be a multiple of 16",
        ),
        (
            lambda: ldmatrix(np.zeros(129, np.uint8), EIGHT, 1),
            ModelError,
            "129 bytes; must be a multiple of 16",
        ),
        (
            lambda: stmatrix(MEMORY.copy(), EIGHT * 0, np.zeros((32, 1), np.uint32)),
            ModelError,
            "two lanes point at one row",
        ),
        (
            lambda: stmatrix(MEMORY.copy(), EIGHT, np.zeros((32, 2), np.float16)),
            ModelError,
            r"registers must be uint32.*given float16 of shape \(32, 2\)",
        ),
        (
            lambda: stmatrix(np.zeros(128, np.float16)[::2], EIGHT, np.zeros((32, 1), np.uint32)),
            ModelError,
            "one whole array",
        ),
        (
            lambda: operand_rows(MMA_SHAPES["m16n8k32"], "B", transposed=True),
            ModelError,
            ".trans moves elements of 16 bits; those of B have 8",
        ),
        (lambda: operand_rows(wgmma(8), "A"), ModelError, "m64n8k16: ldmatrix is an instruction"),
    ],
)
def test_mistakes__are_named(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
