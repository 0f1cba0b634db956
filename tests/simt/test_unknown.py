"""Values that counting does not know stay unknown, and nobody looks at them."""

import operator

import numpy as np
import pytest

from pipeline.errors import ModelError
from pipeline.simt.lanes import Lanes, Part
from pipeline.simt.launch import count
from pipeline.simt.unknown import Unknown

THREAD = Lanes(1, None, Part(np.arange(32)[None, :]))
ARRAY = np.arange(32)[None, :]
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("known", [THREAD, ARRAY, 3], ids=["lanes", "array", "number"])
def test_unknown__makes_every_result_unknown(op, known):
    unknown = Unknown.of((), np.int64) + 1
    assert isinstance(op(unknown, known), Unknown)
    assert isinstance(op(known, unknown), Unknown)


@pytest.mark.parametrize(
    "function",
    [
        np.sum,
        np.max,
        np.any,
        np.mean,
        np.abs,
        np.bitwise_count,
        lambda x: np.where(np.asarray(THREAD) < 3, x, 0),
        lambda x: np.maximum(x, THREAD),
        lambda x: np.stack([x, x]),
        lambda x: x.astype(np.float32),
        lambda x: x.sum(),
        lambda x: x[0, 0],
        lambda x: x[..., None],
        lambda x: np.split(x, 1)[0],
        lambda x: np.divmod(x, 2)[1],
    ],
)
def test_unknown__survives_the_functions_of_numpy(function):
    assert isinstance(function(Unknown.of((), np.int64)), Unknown)


@pytest.mark.parametrize(
    "look", [bool, int, float, lambda x: [1, 2][x], lambda x: x.item(), lambda x: x.tolist()]
)
def test_unknown__refuses_to_be_looked_at(look):
    with pytest.raises(ModelError, match=r"test_unknown\.py:\d+: .*depends on data"):
        look(Unknown.of((), np.int64))


def test_unknown__can_be_shown():
    assert str(Unknown.of((4,), np.float32)) == "Unknown(float32, (4,) per thread)"


@pytest.mark.parametrize(
    "depends",
    [
        lambda blk, x, value: blk.load(x, blk.tid * value),
        lambda blk, x, value: blk.load(x, np.where(blk.tid < 3, value, 0)),
        lambda blk, x, value: blk.atomic_add(x, value, 1),
        lambda blk, x, value: blk.load(x, blk.atomic_add(x, blk.tid, 1)),
        lambda blk, x, value: blk.where(blk.tid < value).__enter__(),
        lambda blk, x, value: blk.load(x, 0) if (value > 0).any() else None,
    ],
)
def test_count__refuses_what_depends_on_data(depends):
    def kernel(blk, x):
        depends(blk, x, blk.load(x, blk.tid))

    with pytest.raises(ModelError, match=r"test_unknown\.py:\d+: .*data"):
        count(kernel, 2, 32, np.zeros(32, np.int32))
