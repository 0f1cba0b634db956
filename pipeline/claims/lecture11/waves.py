"""Blocks come in waves, and the last one is seldom full."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, claim, exactly, near
from pipeline.claims.lecture11.steps import LECTURE
from pipeline.claims.pick import largest, pick, smallest
from pipeline.words import message


def _launch(name: str, case: str, count: int, idle: int, use: float, statement: str) -> Claim:
    """Claim how many waves a launch takes, what its last one leaves idle, and its average use."""

    def check(waves: xr.Dataset) -> Finding:
        one = pick(waves, case=case)
        return Finding(
            {
                "count": exactly(float(one["waves"]), count),
                "idle": exactly(float(one["idle_sms"]), idle),
                "use": near(float(one["sm_utilisation"]), use),
            },
            {
                "blocks": int(one["blocks"]),
                "sms": int(one["n_sm"]),
                "last": int(one["last_wave_blocks"]),
                "gpu_name": one["gpu_name"].item(),
            },
        )

    return Claim(name, LECTURE, ("waves",), statement, check)


last_wave_leaves_half_idle = _launch(
    "last_wave_leaves_half_idle",
    "blocks_512",
    4,
    80,
    0.865,
    message(
        "{blocks} blocks on the {sms} SMs of the {gpu_name} take {count:.0f} waves; the last one "
        "holds {last} blocks and leaves {idle:.0f} SMs idle: {use:.0%} are busy on average."
    ),
)
few_blocks_more_than_sms = _launch(
    "few_blocks_more_than_sms",
    "qkv",
    2,
    72,
    0.727,
    message(
        "Somewhat more blocks than SMs is the worst case: the {blocks} blocks of QKV take "
        "{count:.0f} waves on {sms} SMs, and {use:.0%} are busy on average."
    ),
)
one_wave_nearly_fits = _launch(
    "one_wave_nearly_fits",
    "o",
    1,
    4,
    0.97,
    message(
        "Nearly as many blocks as SMs is a good case: the {blocks} blocks of the O projection "
        "leave {idle:.0f} of {sms} SMs idle, {use:.0%} are busy."
    ),
)
eight_waves_lose_little = _launch(
    "eight_waves_lose_little",
    "gate_up",
    8,
    32,
    0.97,
    message(
        "With {count:.0f} waves a last one that is not full costs little: {use:.0%} of the SMs are "
        "busy on average over the {blocks:,} blocks of gate/up."
    ),
)
many_waves_lose_nothing = _launch(
    "many_waves_lose_nothing",
    "lm_head",
    61,
    36,
    0.995,
    message(
        "Over the {count:.0f} waves of the head the last one does not count: {use:.1%} of the SMs "
        "are busy on average."
    ),
)


@claim(
    LECTURE,
    ("waves",),
    message(
        "What a last wave costs depends on how many came before it: launches of one or two waves "
        "use as little as {few:.0%} of the SMs, those of more than two at least {many:.0%}."
    ),
)
def many_waves_are_safe(waves: xr.Dataset) -> Finding:
    """Compare the use of SMs over few and over many waves."""
    use, is_few = waves["sm_utilisation"], waves["waves"] <= 2
    return Finding(
        {
            "few": at_most(smallest(use.where(is_few)), 0.8),
            "many": at_least(smallest(use.where(~is_few)), 0.85),
            "best": at_most(largest(use), 1),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    last_wave_leaves_half_idle,
    few_blocks_more_than_sms,
    one_wave_nearly_fits,
    eight_waves_lose_little,
    many_waves_lose_nothing,
    many_waves_are_safe,
)
