"""What single instructions do, against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.compiled import fast
from pipeline.compiled.affine import Bound
from pipeline.compiled.semantics.bits import bit_reverse, look_up, permute
from pipeline.compiled.semantics.convert import to_integer
from pipeline.compiled.semantics.floats import directed, rounded
from pipeline.compiled.semantics.halves import from_half, to_half
from pipeline.compiled.semantics.warps import _shuffle_source

WORD = st.integers(0, 2**32 - 1)
SINGLE = st.floats(
    width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**50), max_value=2.0**50
)


def words(*values):
    return [np.array([value], np.uint32) for value in values]


@given(st.integers(0, 255), WORD, WORD, WORD)
def test_look_up__is_the_table_bit_by_bit(table, a, b, c):
    expected = sum(
        (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32)
    )
    assert int(look_up(table, *words(a, b, c))[0]) == expected


@given(WORD, WORD, st.integers(0, 0xFFFF))
def test_permute__picks_bytes(a, b, selector):
    every = (a | b << 32).to_bytes(8, "little")
    picked = []
    for place in range(4):
        choice = selector >> 4 * place & 15
        byte = every[choice & 7]
        picked.append((255 if byte & 128 else 0) if choice & 8 else byte)
    found = permute(*(words(a)[0], words(selector)[0], words(b)[0]))
    assert int(found[0]).to_bytes(4, "little") == bytes(picked)


@given(WORD)
def test_bit_reverse__twice_is_nothing(a):
    assert int(bit_reverse(words(a)[0])[0]) == int(f"{a:032b}"[::-1], 2)


@given(st.floats(width=16, allow_nan=False))
def test_halves__go_there_and_back(value):
    assert from_half(to_half(np.array([value])))[0] == value


@given(st.floats(-1e30, 1e30))
def test_rounded__up_and_down_enclose(value):
    exact = np.array([value])
    down, up, near = (rounded(exact, mode)[0] for mode in ("RM", "RP", "RN"))
    assert float(down) <= value <= float(up)
    assert near in (down, up)
    assert up in (down, np.nextafter(down, np.float32(np.inf)))
    assert abs(float(rounded(exact, "RZ")[0])) <= abs(value)


@given(st.floats(allow_nan=True))
def test_to_integer__stays_in_range(value):
    for kind, low, high in (("S32", -(2**31), 2**31 - 1), ("U32", 0, 2**32 - 1)):
        found = int(to_integer(np.array([value]), kind, "TRUNC")[0])
        expected = 0 if np.isnan(value) else int(np.clip(value, low, high))
        assert found == expected


@given(st.sampled_from(["UP", "DOWN", "BFLY", "IDX"]), st.integers(0, 31), st.sampled_from([8, 32]))
def test_shuffle__reads_within_its_segment(kind, by, width):
    # What CUDA passes for a width: the lanes that stay, and the end of the segment.
    clamp = (32 - width) << 8 | (0 if kind == "UP" else 31)
    amounts, limits = np.full((1, 32), by), np.full((1, 32), clamp)
    source, inside = _shuffle_source(kind, amounts, limits)
    for lane in range(32):
        first = lane // width * width
        wanted = {
            "UP": lane - by, "DOWN": lane + by, "BFLY": lane ^ by, "IDX": first + by % width
        }[kind]  # fmt: skip
        valid = wanted >= first if kind == "UP" else wanted < first + width
        assert bool(inside[0, lane]) == valid
        if valid:
            assert source[0, lane] == wanted


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4, st.booleans(), st.booleans()), max_size=8),
       st.lists(SINGLE, min_size=6, max_size=6))  # fmt: skip
def test_ffma_run__is_one_after_the_other(table, start):
    rows = np.repeat(np.array(start, np.float32)[:, None], 3, axis=1)
    expected = rows.copy()
    with np.errstate(all="ignore"):
        for d, a, b, c, turned, subtracted in table:
            product = expected[a].astype(float) * expected[b] * (-1 if turned else 1)
            added = expected[c].astype(float) * (-1 if subtracted else 1)
            expected[d] = (product + added).astype("f4")
    fast.ffma_run(rows, np.array(table, np.int64).reshape(-1, 6))
    np.testing.assert_array_equal(rows, expected)


@given(*[st.floats(-1e100, 1e100)] * 3)
def test_fma64__rounds_once(a, b, c):
    from fractions import Fraction

    found = fast.fma64(*(np.array([value]) for value in (a, b, c)))[0]
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if abs(exact) > Fraction(1, 10**250):
        assert abs(Fraction(float(found)) - exact) <= abs(exact) * Fraction(1, 2**52)


MODERATE = st.floats(-1e60, 1e60).filter(lambda value: value == 0 or abs(value) > 1e-60)


@given(MODERATE, MODERATE, MODERATE | st.sampled_from([0.0, -0.0]), st.sampled_from("MPZ"))
def test_directed__is_the_neighbour_on_the_side_that_is_asked_for(a, b, c, way):
    from fractions import Fraction

    arrays = [np.array([value]) for value in (a, b, c)]
    found = float(directed(*arrays, fast.fma64(*arrays), f"R{way}")[0])
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact and abs(exact) < Fraction(1, 10**200):
        return
    down = way == "M" or (way == "Z" and exact > 0)
    beyond = float(np.nextafter(found, np.inf if down else -np.inf))
    low, high = (found, beyond) if down else (beyond, found)
    assert Fraction(found) == exact or Fraction(low) < exact < Fraction(high)


def test_directed__zeros_and_ends_of_the_range():
    def rounded_to(a, b, c, mode):
        arrays = [np.array([value], np.float64) for value in (a, b, c)]
        with np.errstate(over="ignore"):
            return float(directed(*arrays, arrays[0] * arrays[1] + arrays[2], mode)[0])

    largest = np.finfo(np.float64).max
    assert np.signbit(rounded_to(1, 1, -1, "RM"))
    assert not np.signbit(rounded_to(1, 1, -1, "RP"))
    assert rounded_to(largest, 2, 0, "RZ") == rounded_to(largest, 2, 0, "RM") == largest
    assert rounded_to(largest, 2, 0, "RP") == np.inf
    assert rounded_to(-largest, 2, 0, "RM") == -np.inf
    assert np.isnan(rounded_to(np.nan, 1, 0, "RZ"))
    assert rounded_to(np.inf, 1, 0, "RZ") == np.inf


@given(st.integers(-50, 50), st.integers(-9, 9), st.integers(-60, 0), st.integers(0, 60))
def test_bound__holds_for_just_so_many_steps(value, slope, low, high):
    value = min(max(value, low), high)
    steps = Bound(np.array([value]), np.array([slope]), low, high).steps()
    inside = [low <= value + t * slope <= high for t in range(200)]
    assert steps >= 200 if all(inside) else inside.index(False) == steps + 1


@given(st.integers(1, 40), st.integers(1, 40), st.booleans())
def test_resolve__finds_the_array_or_the_bad_lane(size, offset, last):
    starts, ends = np.array([1 << 12, 1 << 13]), np.array([(1 << 12) + 4 * size, (1 << 13) + 64])
    address = np.array([1 << 12, (1 << 12) + 4 * offset, 1 << 13])
    index = np.zeros(3, np.int64)
    lanes = np.array([True, True, last])
    bad = fast.resolve(address, lanes, 4, starts, ends, np.array([0, 4096]), index)
    assert bad == (-1 if offset < size else 1)
    if offset < size:
        assert index.tolist() == [0, 4 * offset, 4096 if last else 0]


STEPS = st.lists(st.integers(-300, 300).map(lambda step: 4 * step), min_size=1, max_size=3)


@given(STEPS, st.data(), st.sampled_from([4, 128]))
def test_common_period__is_the_first_after_which_all_are_aligned_as_before(steps, data, size):
    lanes = np.array(data.draw(st.lists(st.booleans(), min_size=32, max_size=32)) * len(steps))
    odd = data.draw(st.sampled_from([0, 0, 0, 8]))
    before = np.arange(lanes.size, dtype=np.int64) * 4
    moved = np.repeat(np.array(steps, np.int64), 32)
    moved[-1] += odd
    apart = any(
        len(set(moved[first : first + 32][lanes[first : first + 32]])) > 1
        for first in range(0, lanes.size, 32)
    )
    found = fast.common_period(before, before + moved, lanes, size)
    if apart:
        assert found == 0
    else:
        aligned = (p for p in range(1, 129) if not (p * moved[lanes] % size).any())
        assert found == next(aligned)
