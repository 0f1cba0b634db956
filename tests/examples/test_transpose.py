"""The worked example: what each transpose must cost, counted by hand."""

from pathlib import Path

import pytest
import yaml

from pipeline.config.own_entry import OwnEntry
from pipeline.config.own_kernels import choose_own, own_kernel
from pipeline.counting.own_check import check
from pipeline.user_file import load

CHECKOUT = Path(__file__).resolve().parents[2]
GIVEN = yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8"))
ENTRIES: dict[str, OwnEntry] = choose_own(GIVEN["own_kernels"], ())[0]
NAMES = ("transpose_naive", "transpose_tiled", "transpose_padded")


def launched(name, n):
    kernel = own_kernel(name, ENTRIES[name])
    return check(kernel, load(kernel), n, seed=0)


def by_hand(name, n):
    """One load and one store for each element; 32 elements of a row are 4 sectors of one line."""
    requests = n * n // 32
    scattered = 32 if name == "transpose_naive" else 4
    counts = {
        "gld_instr": requests,
        "gld_sectors": 4 * requests,
        "gld_lines": requests,
        "gst_instr": requests,
        "gst_sectors": scattered * requests,
        "gst_lines": (32 if name == "transpose_naive" else 1) * requests,
        "fma": 0,
        "race_count": 0,
        "barriers": 0,
        "warp_instr": 2 * requests,
    }
    if name != "transpose_naive":
        # A column of a tile with 32 words per row lies in one bank: 32 wavefronts for one load.
        conflicts = 32 if name == "transpose_tiled" else 1
        blocks, warps = (n // 32) ** 2, 8
        counts |= {
            "sts_instr": requests,
            "sts_wavefronts": requests,
            "lds_instr": requests,
            "lds_wavefronts": conflicts * requests,
            "ideal_smem_wavefronts": 2 * requests,
            "barriers": blocks,
            "warp_instr": 4 * requests + blocks * warps,
        }
    return counts


@pytest.mark.parametrize("n", [32, 96, 128])
@pytest.mark.parametrize("name", NAMES)
def test_transpose__costs_what_was_counted_by_hand(name, n):
    done = launched(name, n)
    assert {key: done.launched.counters[key] for key in by_hand(name, n)} == by_hand(name, n)
    assert done.max_abs_error == 0
    assert done.compulsory_bytes == 2 * n * n * 4


@pytest.mark.parametrize(
    ("name", "words"),
    [("transpose_naive", 0), ("transpose_tiled", 1024), ("transpose_padded", 1056)],
)
def test_transpose__shared_memory_is_a_tile(name, words):
    assert launched(name, 32).launched.smem_bytes == 4 * words


@pytest.mark.parametrize("n", [1, 2, 31, 33, 47, 65, 97])
@pytest.mark.parametrize("name", NAMES)
def test_transpose__is_right_where_tiles_are_cut(name, n):
    done = launched(name, n)
    assert done.max_abs_error == 0
    assert not done.launched.hazard_counts


@pytest.mark.parametrize("pitch", [34, 35, 40, 48])
def test_transpose__conflicts_follow_the_pitch(pitch):
    kernel = own_kernel(
        "mine", ENTRIES["transpose_padded"].model_copy(update={"options": {"pitch": pitch}})
    )
    counters = check(kernel, load(kernel), 64, 0).launched.counters
    # Lanes that are 32 / gcd apart meet in a bank.
    common = {34: 2, 35: 1, 40: 8, 48: 16}[pitch]
    assert counters["lds_wavefronts"] == common * counters["lds_instr"]
