"""What the configuration says of sweeps, and what it refuses."""

from pathlib import Path

import pytest
import yaml

from pipeline.config import parameters
from pipeline.config.load import load
from pipeline.config.sweeps import Execution
from pipeline.errors import ConfigError
from pipeline.sweep.space import axis_values, points

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture
def given():
    return yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8"))


def changed(given, section, key, value):
    given["sweeps"][section][key] = value
    return given


@pytest.mark.parametrize(("scheduler", "taken"), [("threads", 1), ("processes", 4), ("cluster", 4)])
def test_tile_threads__wait_for_each_other_but_in_processes(scheduler, taken):
    settings = Execution(scheduler=scheduler, threads=4)
    assert parameters.tile_threads(settings) == taken


def test_default__tiles_are_thousands_and_timelines_about_a_million(given):
    config = load(given)
    tiles = parameters.tile_space("tiles", parameters.TILED, config.sweeps.tiles, "lecture")
    assert points(tiles["axes"]) > 2000
    space = parameters.timeline_space(config.sweeps.timeline)["axes"]
    ways = len(config.gpus) * len(config.decode.executions)
    assert 0.9e6 < points(space) * ways < 1.5e6


def test_scale__gives_as_many_times_the_points(given):
    default = points(parameters.timeline_space(load(given).sweeps.timeline)["axes"])
    larger = load(changed(given, "timeline", "scale", 100))
    assert points(parameters.timeline_space(larger.sweeps.timeline)["axes"]) >= 100 * default


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ([64, 8, "16"], (8, 16, 64)),
        ({"log": [8, 64], "count": 4}, (8, 16, 32, 64)),
        ({"linear": ["8", 64.0], "count": "8"}, (8, 16, 24, 32, 40, 48, 56, 64)),
    ],
)
def test_axis__takes_lists_and_ranges(given, value, same):
    config = load(changed(given, "tiles", "bk", value))
    assert tuple(axis_values(config.sweeps.tiles.bk)) == same


@pytest.mark.parametrize(
    ("section", "key", "value", "said"),
    [
        ("tiles", "bk", 8, r"sweeps\.tiles\.bk: given 8; must be a list of numbers, or \{linear"),
        ("tiles", "bk", [], "must be a list of numbers"),
        ("tiles", "bk", [8, 8], "must hold each entry once"),
        ("tiles", "bk", [0], "must hold values from 1 to 1024, but 0 is none"),
        ("tiles", "bk", [8.5], "must be a whole number"),
        ("tiles", "bk", {"log": [0, 8], "count": 3}, "ends that rise, and positive ones with log"),
        ("tiles", "bk", {"log": [8, 4], "count": 3}, "ends that rise"),
        ("tiles", "bk", {"log": [4, 8], "count": 1}, "must have a count from 2"),
        ("tiles", "bk", {"log": [4, 8]}, "must be a list of numbers, or"),
        ("tiles", "bk", {"log": [4, 8], "linear": [4, 8], "count": 3}, "must be a list of numbers"),
        ("tiles", "n", 512, r"sweeps\.tiles\.n: given 512; must be one of sweeps\.tiles\.sizes"),
        ("tiles", "wm", [32], r"sweeps\.tiles\.wm: unknown key"),
        ("timeline", "launch", [2.1], "must hold values from 0 to 0.01"),
        ("timeline", "scale", 0.5, "must be at least 1"),
        ("execution", "scheduler", "fast", "must be threads, processes, cluster or the address"),
        ("execution", "scheduler", "tcp://nowhere", "must be threads, processes, cluster"),
        ("execution", "threads", 0, "must be at least 1"),
        ("budget", "points", 0, "must be at least 1"),
    ],
)
def test_load__refuses_what_no_sweep_can_be(given, section, key, value, said):
    with pytest.raises(ConfigError, match=said):
        load(changed(given, section, key, value))


def test_sweep_resources__the_address_in_the_environment_goes_first(given):
    sweeps = load(given).sweeps
    assert parameters.sweep_resources(sweeps, {})["scheduler"] == "threads"
    address = {"DASK_SCHEDULER_ADDRESS": "tcp://127.0.0.1:8786"}
    assert parameters.sweep_resources(sweeps, address)["scheduler"] == "tcp://127.0.0.1:8786"


def test_spaces__are_plain_values(given):
    config = load(given)
    for space in (
        parameters.tile_space("warp", parameters.WARP_TILED, config.sweeps.warp_tiles, "lecture"),
        parameters.timeline_space(config.sweeps.timeline),
    ):
        assert yaml.safe_load(yaml.safe_dump(space)) == space
