"""Kernels that are right and do not fit: which GPUs, and which limit."""

from pathlib import Path

import pytest

from pipeline.counting.own_fit import notes, unfit
from pipeline.hardware.gpus import gpus
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.hardware.sheet import load_sheets
from pipeline.kernels.launches import FACTS, launches
from pipeline.words import english

SHEETS = Path(__file__).parents[2] / "data/gpus"
CARDS = gpus(load_sheets(SHEETS, ("rtx_a6000", "h100_sxm")))


def said(**facts):
    given = dict.fromkeys(FACTS, 32) | {"smem_bytes": 0, "kernel_number": 1, "kernel_label": "x"}
    occupancy = ladder_occupancy(launches({"mine": given | facts}), CARDS)
    found = unfit(occupancy, CARDS, english)
    assert notes(occupancy, CARDS) == "".join(f"note: mine {text}\n" for text in found.values())
    return found


def test_unfit__says_nothing_of_kernels_that_fit():
    assert said() == {}


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (
            {"smem_bytes": 327_680},
            "runs on no GPU: a block takes 327680 bytes of shared memory, at most 232448 are",
        ),
        (
            {"threads_per_block": 1024, "registers_per_thread": 255},
            "runs on no GPU: a block of 1024 threads takes 255 registers for each, and may hold "
            "65536 in all",
        ),
        (
            {"smem_bytes": 120_000},
            "does not run on rtx_a6000: a block takes 120000 bytes of shared memory, at most 10137",
        ),
        (
            {"capability_min": 90},
            "does not run on rtx_a6000: its instructions need compute capability 9.0",
        ),
        ({"capability_min": 100}, "runs on no GPU: its instructions need compute capability 10.0"),
    ],
)
def test_unfit__names_the_limit(facts, text):
    assert said(**facts)["mine"].startswith(text)


def test_unfit__names_every_limit():
    both = said(smem_bytes=327_680, threads_per_block=1024, registers_per_thread=255)["mine"]
    assert "65536 in all and a block takes 327680 bytes" in both
