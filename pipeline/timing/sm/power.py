"""The clock that a card keeps under load."""

from collections.abc import Mapping

_DATA_WEIGHT = 1 / 3
_VOLTAGE_FALLS = 1 / 3
"""Power goes with f V^2, and V with f: the clock falls with the third root of what is asked for."""


def clock(figures: Mapping[str, float], used: Mapping[str, float]) -> float:
    """Return the clock (Hz) under a load.

    A card that is limited by power keeps its clock up to a load of ``power_share``: the share of
    its FP32 pipes that is busy, and a third of that of L1's data stage. Beyond it the clock is
    f0 (B / E)^1/3.

    Parameters
    ----------
    figures
        Of the GPU.
    used
        How busy its pipes are.
    """
    share = figures["power_share"]
    if share != share:
        return figures["clock_light"]
    busy = (used["fma_heavy"] + used["fma_lite"]) / figures["fma_pipes"]
    load = busy + _DATA_WEIGHT * used["l1_data"]
    return figures["clock_light"] * min(1.0, (share / max(load, share)) ** _VOLTAGE_FALLS)
