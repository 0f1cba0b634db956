"""Settings of the megakernel: what is accepted, and what is said about everything else."""

import pytest

from pipeline.config.load import load
from pipeline.errors import ConfigError
from tests.test_config_decode import changed, delivered

__all__ = ["delivered"]


def test_load__settings_of_the_megakernel(delivered):
    held = load(delivered).megakernel
    assert (held.execution, held.kernels) == ("megakernel_prefetch", "kernels7_graphs")
    assert (held.assignment, held.layers) == ("contiguous", 2)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("megakernel.execution", "megakernel", "must be one of decode.executions"),
        ("megakernel.execution", "kernels7_graphs", "launch graphs; must be an execution with"),
        ("megakernel.kernels", "kernels7_stream", "must be an execution with launch graphs"),
        ("megakernel.assignment", "random", "contiguous"),
        ("megakernel.layers", 0, "megakernel.layers"),
        ("megakernel.layers", 9, "megakernel.layers"),
        ("megakernel.pages", 13, "megakernel.pages"),
    ],
)
def test_load__wrong_setting_of_the_megakernel_is_named(delivered, path, value, message):
    with pytest.raises(ConfigError) as raised:
        load(changed(delivered, path, value))
    assert message in str(raised.value)


def test_load__name_of_the_timeline_of_instructions_is_kept(delivered):
    taken = delivered["decode"]["executions"]["kernels7_graphs"]
    given = changed(delivered, "decode.executions.megakernel_instructions", taken)
    with pytest.raises(ConfigError, match="stands for the megakernel instruction by instruction"):
        load(given)
