"""Outlines in few characters: the ``d`` of an svg path, on a grid, as steps from point to point."""

import re
from functools import cache
from math import hypot
from statistics import fmean

_TOKEN = re.compile(r"[MLQCZz]|-?\d*\.?\d+(?:e[+-]?\d+)?")
# Curves of a circle, and how far from round one may be.
_LEAST_CURVES = 4
_ROUNDNESS = 0.01
_NUMBERS = {"M": 2, "L": 2, "Q": 4, "C": 6}


def shorter_path(d: str, digits: int) -> str:
    """Write a path with ``digits`` decimals and relative coordinates.

    Every point is rounded to the grid once, and steps are taken on the grid, so that errors do not
    add up.

    Parameters
    ----------
    d
        Path of absolute commands M, L, Q, C and Z, as matplotlib writes them.
    digits
        Decimals that are kept.

    Raises
    ------
    ValueError
        If there is another command.

    >>> shorter_path("M 10.004 20 L 10.004 25.5 L 30 25.5 z", 2)
    'M10 20v5.5h20z'
    """
    tokens = _TOKEN.findall(d)
    if "".join(tokens) != re.sub(r"[\s,]+", "", d):
        raise ValueError(f"a path with more than M, L, Q, C and Z: {d[:60]!r}")
    scale = 10**digits
    pieces: list[str] = []
    here = start = (0, 0)
    place, last = 0, ""
    while place < len(tokens):
        command = tokens[place].upper()
        count = _NUMBERS.get(command, 0)
        grid = [round(float(token) * scale) for token in tokens[place + 1 : place + 1 + count]]
        place += 1 + count
        if command == "Z":
            last, here = "z", start
            pieces.append("z")
            continue
        letter, steps = _step(command, grid, here)
        here = (grid[-2], grid[-1])
        start = here if command == "M" else start
        pieces.append(_joined("" if letter == last and letter != "M" else letter, steps, digits))
        last = letter
    return "".join(pieces)


def dots(d: str) -> tuple[float, str] | None:
    """Find out whether a path is nothing but round dots of one size, as those of hatches are.

    Parameters
    ----------
    d
        Path of absolute commands.

    Returns
    -------
    The radius, and a path with a line of no length at every centre; with round ends as wide as the
    dots it looks the same, and is shorter by far. None if the path is something else.

    >>> right, left = "C 1 0.55 0.55 1 0 1", "C -0.55 1 -1 0.55 -1 0"
    >>> dots(f"M 1 0 {right} {left} C -1 -0.55 -0.55 -1 0 -1 C 0.55 -1 1 -0.55 1 0 z")
    (1.0, 'M 0.0 0.0 L 0.0 0.0')
    """
    circles = [_circle(part) for part in d.split("M")[1:]]
    if not circles or None in circles:
        return None
    found = [circle for circle in circles if circle]
    radius = found[0][2]
    if any(abs(one - radius) > _ROUNDNESS * radius for _, _, one in found):
        return None
    return radius, " ".join(f"M {x} {y} L {x} {y}" for x, y, _ in found)


def _circle(part: str) -> tuple[float, float, float] | None:
    """Give centre and radius of a circle of curves; None if it is something else."""
    start, *curves = part.replace("z", "").split("C")
    ends = [tuple(map(float, _TOKEN.findall(one)[-2:])) for one in (start, *curves)]
    # Three points and less are on some circle always.
    if len(curves) < _LEAST_CURVES or ends[0] != ends[-1] or re.search("[LQ]", part):
        return None
    x, y = (fmean(values) for values in zip(*ends[1:], strict=True))
    radii = [hypot(one - x, other - y) for one, other in ends]
    radius = fmean(radii)
    round_enough = all(abs(one - radius) <= _ROUNDNESS * radius for one in radii)
    return (round(x, 6), round(y, 6), round(radius, 6)) if round_enough else None


def short_number(value: float, digits: int) -> str:
    """Write a number with at most ``digits`` decimals and no needless sign.

    >>> short_number(-0.5, 2), short_number(12.0, 2), short_number(-0.001, 2)
    ('-.5', '12', '0')
    """
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in ("-0", ""):
        return "0"
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _step(command: str, grid: list[int], here: tuple[int, int]) -> tuple[str, list[int]]:
    if command == "M":
        return "M", grid
    steps = [value - here[axis % 2] for axis, value in enumerate(grid)]
    if command == "L" and steps[0] == 0:
        return "v", steps[1:]
    if command == "L" and steps[1] == 0:
        return "h", steps[:1]
    return command.lower(), steps


# Steps are short, so most are met again.
@cache
def _on_grid(step: int, digits: int) -> str:
    return short_number(step / 10**digits, digits)


def _joined(letter: str, steps: list[int], digits: int) -> str:
    """Put numbers behind a letter with a blank only where they would run together."""
    text, before = letter, "" if letter else " "
    for step in steps:
        number = _on_grid(step, digits)
        glued = not before or number.startswith("-") or (number[0] == "." and "." in before)
        text += number if glued else f" {number}"
        before = number
    return text
