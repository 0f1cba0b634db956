"""Fragments: against the layouts of CuTe, and as permutations of a matrix."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ModelError
from pipeline.tensor_core.fragments import coordinates, fragment, matrix
from pipeline.tensor_core.shapes import MMA_SHAPES, OPERANDS, WGMMA_COLUMNS, shape_named, wgmma
from tests.tensor_core.cute_tables import digest

CUTE = Path(__file__).parent.parent / "data" / "cute"
SHAPES = st.one_of(
    st.sampled_from(list(MMA_SHAPES.values())), st.sampled_from(WGMMA_COLUMNS).map(wgmma)
)


def rows(table):
    with (CUTE / f"{table}.csv").open(encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def test_coordinates__are_those_of_cute_lane_by_lane():
    compared = 0
    for row in rows("fragments"):
        if row["lane"] != "all":
            held = coordinates(shape_named(row["shape"]), row["operand"])[int(row["lane"])]
            text = " ".join(f"{r}:{c}" for r, c in held)
            assert text == row["coordinates"], (row["shape"], row["operand"], row["lane"])
            compared += 1
    assert compared == 6 * 3 * 32 + (1 + 3) * 128


def test_coordinates__are_those_of_cute_for_every_shape():
    compared = set()
    for row in rows("fragments"):
        if row["lane"] == "all":
            held = coordinates(shape_named(row["shape"]), row["operand"])
            assert digest(held.ravel().tolist()) == row["coordinates"], row
            compared.add((row["shape"], row["operand"]))
    every = {(name, operand) for name in MMA_SHAPES for operand in OPERANDS}
    assert compared == every | {("m64n8k16", "A")} | {(f"m64n{n}k16", "C") for n in WGMMA_COLUMNS}


def test_coordinates__of_m16n8k16_as_the_lecture_gives_them():
    lane = np.arange(32)
    group, within = lane // 4, lane % 4
    held = {operand: coordinates(MMA_SHAPES["m16n8k16"], operand) for operand in OPERANDS}
    for i in range(8):
        assert np.array_equal(held["A"][:, i, 0], group + 8 * (i // 2 % 2))
        assert np.array_equal(held["A"][:, i, 1], 2 * within + i % 2 + 8 * (i // 4))
    for i in range(4):
        assert np.array_equal(held["B"][:, i, 0], 2 * within + i % 2 + 8 * (i // 2))
        assert np.array_equal(held["B"][:, i, 1], group)
        assert np.array_equal(held["C"][:, i, 0], group + 8 * (i // 2))
        assert np.array_equal(held["C"][:, i, 1], 2 * within + i % 2)


@given(SHAPES, st.data())
def test_coordinates__every_element_is_held_once(shape, data):
    operand = data.draw(st.sampled_from(shape.operands))
    extent = shape.extent(operand)
    flat = np.ravel_multi_index(tuple(coordinates(shape, operand).reshape(-1, 2).T), extent)
    assert np.array_equal(np.sort(flat), np.arange(extent[0] * extent[1]))


@given(SHAPES, st.data(), st.lists(st.integers(1, 3), max_size=2))
def test_matrix__is_the_inverse_of_fragment(shape, data, batch):
    operand = data.draw(st.sampled_from(shape.operands))
    whole = np.arange(np.prod([*batch, *shape.extent(operand)]), dtype=np.int32)
    whole = whole.reshape(*batch, *shape.extent(operand))
    assert np.array_equal(matrix(fragment(whole, shape, operand), shape, operand), whole)


def test_coordinates__cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        coordinates(MMA_SHAPES["m16n8k16"], "A")[0, 0, 0] = 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: shape_named("m16n16k16"), "no shape 'm16n16k16'; allowed are m16n8k4, "),
        (lambda: shape_named("m64n12k16"), "given N = 12; must be a multiple of 8 from 8 to 256"),
        (lambda: shape_named("m64n08k16"), "no shape 'm64n08k16'"),
        (lambda: shape_named(None), "no shape None"),
        (lambda: wgmma(264), "given N = 264"),
        (lambda: wgmma(8.0), "given N = 8.0"),
        (lambda: MMA_SHAPES["m16n8k16"].extent("D"), "no operand 'D'"),
        (lambda: coordinates(MMA_SHAPES["m16n8k16"], "D"), "no operand 'D'; allowed are A, B, C"),
        (lambda: coordinates(wgmma(64), "B"), "m64n64k16: B is read from shared memory"),
        (
            lambda: fragment(np.zeros((8, 16)), MMA_SHAPES["m16n8k16"], "B"),
            r"B has 16 x 8 elements; given an array of shape \(8, 16\)",
        ),
        (
            lambda: matrix(np.zeros((32, 8)), MMA_SHAPES["m16n8k16"], "C"),
            r"each of 32 lanes holds 4 elements of C; given an array of shape \(32, 8\)",
        ),
        (lambda: fragment(np.float32(1), MMA_SHAPES["m16n8k16"], "A"), r"of shape \(\)"),
    ],
)
def test_mistakes__are_named(wrong, message):
    with pytest.raises(ModelError, match=message):
        wrong()
