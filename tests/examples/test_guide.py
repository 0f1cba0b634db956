"""The guide says what is so: its entries load, its kernels run, its names exist."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline.config.own_entry import OwnEntry
from pipeline.config.own_kernels import choose_own, own_kernel
from pipeline.counting.own_check import check
from pipeline.simt.block import Block
from pipeline.simt.launch import launch
from pipeline.user_file import load

CHECKOUT = Path(__file__).resolve().parents[2]
GUIDE = (CHECKOUT / "docs/OWN_KERNELS.md").read_text(encoding="utf-8")
MINE = """\
def doubled(x):
    return 2 * x


def double(blk, x, out, n):
    at = blk.bx * 256 + blk.tx
    with blk.where(at < n * n):
        blk.store(out, at, 2 * blk.load(x, at))
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_guide__names_only_what_a_block_has():
    seen = {}

    def look(blk):
        seen.update(dict.fromkeys(dir(blk)))

    launch(look, 1, 32)
    named = set(re.findall(r"\bblk\.(\w+)", GUIDE))
    assert {"load", "store", "where", "atomic_add", "tx", "bdz"} <= named <= set(seen)
    assert set(dir(Block)) <= set(seen)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_guide__entries_load_and_their_kernels_pass(text, tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    shutil.copytree(CHECKOUT / "examples", tmp_path / "examples")
    entries, problems = choose_own(yaml.safe_load(text)["own_kernels"], (), tmp_path)
    assert problems == []
    for name, entry in entries.items():
        kernel = own_kernel(name, entry)
        for n in (64, 33):
            check(kernel, load(kernel, tmp_path), n, 0)


def test_guide__first_kernel_runs():
    space = {}
    exec(blocks("python")[0], space)
    x = np.random.default_rng(0).standard_normal((70, 70), dtype=np.float32)
    out = np.zeros_like(x)
    launch(space["naive"], (3, 3), (32, 8), x, out, 70)
    np.testing.assert_array_equal(out, space["transposed"](x))


def test_guide__states_the_defaults():
    assert f"`tolerance` ({OwnEntry.model_fields['tolerance'].default})" in GUIDE
    for name in re.findall(r"^    (\w+):", "".join(blocks("yaml")), re.MULTILINE):
        assert name in OwnEntry.model_fields
