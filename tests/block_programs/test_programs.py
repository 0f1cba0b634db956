"""The collection: right results, and the costs counted by hand."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.block_programs import launch
from pipeline.block_programs.programs.catalog import EVERY, PROGRAMS
from pipeline.block_programs.programs.dropout import uniform
from pipeline.block_programs.programs.program import Tiles

FOLDER = Path(launch.__file__).parent / "programs"
TILES = Tiles(
    block=256, tile_m=32, tile_n=16, tile_k=16, group=3, query_rows=32, key_rows=16, heads=2,
    head_size=16,
)  # fmt: skip
# Largest error per program at these sizes; half precision in attention.
TOLERANCE = {"attention": 2e-3, "attention_causal": 2e-3}


def run(program, n):
    return program.run(n, np.random.default_rng(n), TILES)


@pytest.mark.parametrize("n", [8, 64, 72, 104])
@pytest.mark.parametrize("program", EVERY, ids=lambda program: program.id)
def test_program__result_and_cost(program, n):
    outcome = run(program, n)
    assert outcome.max_abs_error() < TOLERANCE.get(program.id, 1e-4)
    expected = program.expected(n, TILES)
    assert {name: outcome.launched.counters[name] for name in expected} == expected
    assert outcome.launched.hazard_count == 0


@pytest.mark.parametrize("program", EVERY, ids=lambda program: program.id)
def test_program__one_by_one_counts_and_computes_the_same(program, monkeypatch):
    together = run(program, 72)
    monkeypatch.setattr(launch, "FIRST_BATCH", 1)
    monkeypatch.setattr(launch, "BATCH_ELEMENTS", 1)
    alone = run(program, 72)
    assert alone.launched.counters == together.launched.counters
    for name, (made, _) in alone.results.items():
        # A product of many matrices at once may take its sums in another order.
        np.testing.assert_allclose(made, together.results[name][0], rtol=1e-4, atol=1e-5)


def module_of(program):
    return getattr(program.run, "func", program.run).__module__.rpartition(".")[2]


def test_catalog__lists_every_file():
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "catalog", "program"}
    assert modules == set(map(module_of, EVERY))
    assert list(PROGRAMS) == [program.id for program in EVERY]


def test_uniform__is_what_philox_gives_by_whole_numbers():
    """One word by Python's own integers, which do not wrap."""
    seed, offset = 2**40 + 7, 5
    c, k = [offset, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        one, two = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [two >> 32 ^ c[1] ^ k[0], two % 2**32, one >> 32 ^ c[3] ^ k[1], one % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    word = c[0] if c[0] < 2**31 else ~(c[0] - 2**32)
    assert uniform(seed, 6)[5] == np.float32(word) * np.float32(4.6566127342e-10)
