"""Colours by computation: told apart without red, green or blue cones, and in grey with a mark."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from pipeline.artifacts import decode_step, marks, style
from pipeline.artifacts.lecture10 import tile_sweep
from pipeline.artifacts.lecture11 import ledger, timeline_trace
from pipeline.timing.resources import RESOURCES
from pipeline.words import english

# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", 2009: severity 1, for linear light.
VISION = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# sRGB to XYZ, and its white: IEC 61966-2-1.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
# Distance in CIELAB (1976) at which areas are clearly different; 2.3 is just noticed.
CLEAR = 15
# Difference of lightness, 0 to 100, at which greys beside each other are told apart.
GREY_STEP = 9
COLOURS = (*style.SEVEN, style.YELLOW, style.PALE)
# Stacked areas: colour and pattern of each, in order.
STACKS = {
    "parts": list(decode_step._LOOKS.values()),
    "trace": [(colour, hatch) for colour, hatch, _ in timeline_trace._LOOKS.values()],
    "rules": [
        (colour, style.HATCHES[rank % len(style.HATCHES)])
        for rank, (_, colour) in enumerate(tile_sweep._RULE_LOOKS.values())
    ],
    "operations": list(zip(ledger.COLOURS, style.HATCHES, strict=False)),
}


def linear(colour):
    value = np.array(to_rgb(colour))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(light):
    x, y, z = np.clip(XYZ @ light, 0, None) / WHITE
    fx, fy, fz = (
        np.cbrt(one) if one > (6 / 29) ** 3 else one / (3 * (6 / 29) ** 2) + 4 / 29
        for one in (x, y, z)
    )
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def seen(colour, vision):
    return lab(np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1))


@pytest.mark.parametrize("vision", VISION)
def test_palette__is_told_apart_by_all_eyes(vision):
    for one, two in combinations(COLOURS, 2):
        assert np.linalg.norm(seen(one, vision) - seen(two, vision)) >= CLEAR, (one, two)


def test_palette__the_test_can_fail():
    red, green = "#D62728", "#2CA02C"
    assert np.linalg.norm(seen(red, "all cones") - seen(green, "all cones")) >= CLEAR
    assert np.linalg.norm(seen(red, "deuteranopia") - seen(green, "deuteranopia")) < CLEAR


def test_resources__each_has_a_colour_and_a_mark_of_its_own():
    ids = [resource.id for resource in RESOURCES]
    for look in (style.resource_name, style.resource_colour, style.resource_marker):
        assert len({look(one) for one in ids}) == len(ids)
    # The mark of what was measured.
    assert "D" not in {style.resource_marker(one) for one in ids}


def test_gpus__keep_their_colour_and_others_take_another():
    assert len(set(style._GPUS.values())) == len(style._GPUS)
    for gpu, colour in style._GPUS.items():
        assert {style.gpu_colour(gpu, rank) for rank in range(9)} == {colour}
    assert style.gpu_colour("t4", 0) not in style._GPUS.values()


@pytest.mark.parametrize("name", STACKS)
def test_stacks__neighbours_differ_in_grey_or_by_their_pattern(name):
    for (colour, hatch), (other, another) in pairwise(STACKS[name]):
        step = abs(lab(linear(colour))[0] - lab(linear(other))[0])
        assert step >= GREY_STEP or hatch != another, (colour, other)


def test_marks__predicted_is_filled_and_published_is_a_hollow_diamond():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0], "bound": ["l1", "dram"]})
    axes = Figure().subplots()
    marks.predicted(axes, frame, "x", "y", ["l1", "dram"], english)
    marks.published(axes, frame, "x", "y", english)
    *predicted, published = axes.collections
    assert [len(one.get_facecolor()) for one in predicted] == [1, 1]
    assert len(published.get_facecolor()) == 0
    shapes = [str(one.get_paths()[0].vertices) for one in axes.collections]
    assert len(set(shapes)) == 3
