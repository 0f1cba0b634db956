import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from pipeline.site.paths import dots, short_number, shorter_path

DIGITS = 2
coordinates = st.floats(-2000, 2000).map(lambda value: round(value, 6))
LENGTHS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}


@st.composite
def commands(draw):
    """Absolute commands, beginning with a move."""
    letters = ["M", *draw(st.lists(st.sampled_from("MLLLQCZ"), max_size=12))]
    return [(letter, [draw(coordinates) for _ in range(LENGTHS[letter])]) for letter in letters]


def written(path):
    return " ".join(f"{letter} {' '.join(map(str, numbers))}" for letter, numbers in path)


def read_back(text):
    """Plain reading of a path with relative commands, as the svg specification has it."""
    here, start, found = [0.0, 0.0], [0.0, 0.0], []
    for letter, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", text):
        numbers = [float(one) for one in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", rest)]
        if letter == "z":
            found.append(("Z", []))
            here = list(start)
            continue
        size = 1 if letter in "hv" else LENGTHS[letter.upper()]
        for place in range(0, len(numbers), size):
            part = numbers[place : place + size]
            if letter == "M":
                points, start = part, part
            elif letter in "hv":
                points = (
                    [here[0] + part[0], here[1]] if letter == "h" else [here[0], here[1] + part[0]]
                )
            else:
                points = [value + here[axis % 2] for axis, value in enumerate(part)]
            found.append(("L" if letter in "hv" else letter.upper(), points))
            here = points[-2:]
    return found


@given(commands())
def test_shorter_path__keeps_every_point_to_half_a_step(path):
    shown = read_back(shorter_path(written(path), DIGITS))
    assert [letter for letter, _ in shown] == [letter for letter, _ in path]
    for (_, points), (_, numbers) in zip(shown, path, strict=True):
        assert points == pytest.approx(numbers, abs=0.5 * 10**-DIGITS + 1e-6)


def test_shorter_path__errors_do_not_add_up():
    steps = "".join(f"L {0.004 * place} 0 " for place in range(1, 1001))
    shown = read_back(shorter_path(f"M 0 0 {steps}", DIGITS))
    assert shown[-1][1][0] == pytest.approx(4, abs=0.005)


def test_shorter_path__refuses_commands_that_it_does_not_know():
    with pytest.raises(ValueError, match="more than M, L, Q, C and Z"):
        shorter_path("M 0 0 A 1 1 0 0 1 2 2", DIGITS)


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_short_number__says_the_same(value, digits):
    shown = short_number(value, digits)
    assert float(shown) == pytest.approx(value, abs=0.5 * 10**-digits * (1 + 1e-6))
    assert not shown.startswith(("0.", "-0"))


def circle(x, y, wide, high):
    """Write an ellipse of eight curves, as matplotlib draws circles."""
    path = Affine2D().scale(wide, high).translate(x, y).transform_path(Path.unit_circle())
    parts = [(path.vertices[0], "M")]
    parts += [(curve.ravel(), "C") for curve in path.vertices[1:25].reshape(8, 3, 2)]
    return "\n".join(f"{c} {' '.join(f'{one:.6f}' for one in p)}" for p, c in parts) + "\nz"


@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=5), st.floats(0.2, 9))
def test_dots__are_found_with_their_places(places, radius):
    found = dots(" ".join(circle(x, y, radius, radius) for x, y in places))
    assert found is not None
    assert found[0] == pytest.approx(radius, abs=1e-5)
    shown = read_back(shorter_path(found[1], DIGITS))
    assert [letter for letter, _ in shown] == ["M", "L"] * len(places)
    for (_, point), place in zip(shown, [one for one in places for _ in "ML"], strict=True):
        assert point == pytest.approx(place, abs=0.5 * 10**-DIGITS + 1e-5)


@pytest.mark.parametrize(
    "path",
    [
        circle(0, 0, 1, 1.1),
        circle(0, 0, 1, 1) + circle(5, 5, 2, 2),
        circle(0, 0, 1, 1) + " M 0 0 L 5 0 L 5 5 z",
        circle(0, 0, 1, 1).replace("z", "L 5 5 z"),
        circle(0, 0, 1, 1).partition("C")[0],
        "M 1 0 C 1 1 -1 1 -1 0 C -1 -1 1 -1 1 0 z",
        "",
    ],
    ids=["ellipse", "sizes", "square", "tail", "point", "two curves", "nothing"],
)
def test_dots__nothing_else_is(path):
    assert dots(path) is None
