import math

from hypothesis import given
from hypothesis import strategies as st

from pipeline.sweep.space import Range, axis_values, points, scaled


def test_range__ends_are_included_and_values_are_short():
    assert Range("linear", 1e-6, 5e-6, 5).values() == (1e-6, 2e-6, 3e-6, 4e-6, 5e-6)
    assert Range("log", 8, 512, 7, whole=True).values() == (8, 16, 32, 64, 128, 256, 512)


def test_range__whole_numbers_that_coincide_stand_once():
    assert Range("linear", 1, 3, 9, whole=True).values() == (1, 2, 3)


def test_scaled__refines_ranges_and_leaves_lists_alone():
    axes = {"a": Range("linear", 0, 1, 2), "b": Range("linear", 0, 1, 3), "c": (5, 7)}
    refined = scaled(axes, 4)
    assert refined["c"] == (5, 7)
    assert [len(axis_values(refined[name])) for name in "ab"] == [4, 6]


def test_scaled__stops_when_every_whole_number_stands():
    assert points(scaled({"a": Range("linear", 1, 4, 2, whole=True)}, 100)) == 4


@given(
    st.lists(st.tuples(st.integers(2, 5), st.booleans()), min_size=1, max_size=4),
    st.floats(1, 200),
)
def test_scaled__gives_at_least_as_many_points_but_not_many_more(counts, scale):
    axes = {
        str(i): Range("log", 1, 10, count) if is_range else tuple(range(count))
        for i, (count, is_range) in enumerate(counts)
    }
    refined = scaled(axes, scale)
    if any(is_range for _, is_range in counts):
        assert points(refined) >= scale * points(axes)
        # One value less in the range that was refined last would be too few.
        assert points(refined) <= 1.5 * max(scale, 1) * points(axes) + 1
    assert all(set(axis_values(axes[n])) & set(axis_values(refined[n])) for n in axes)


def test_scaled__twice_the_points_less_one_value_are_too_few():
    refined = scaled({"a": Range("linear", 0, 1, 10)}, 1.05)
    assert points(refined) == math.ceil(10.5)
