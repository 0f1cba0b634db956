"""What the block programs of the collection do at a few sizes."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from pipeline.block_programs.programs.catalog import EVERY
from pipeline.block_programs.programs.program import Program, Tiles
from pipeline.vocab.block_programs import BLOCK_COUNTERS, BLOCK_PROGRAMS
from pipeline.vocab.variable import annotate


def block_programs(sizes: Sequence[int], seed: int, tiles: Mapping[str, int]) -> xr.Dataset:
    """Run every program of the collection, and count.

    Parameters
    ----------
    sizes
        Values of n.
    seed
        Seed of the arrays' values, which no count depends on.
    tiles
        Sizes of blocks, by the names of :class:`pipeline.block_programs.programs.program.Tiles`.

    Returns
    -------
    xr.Dataset
        Over (program, n): every counter, bytes counted by hand, ``hazards`` and ``max_abs_error``.
    """
    blocks = Tiles(**tiles)
    over = ("program", "n")
    counted = [[_one(program, n, seed, blocks) for n in sizes] for program in EVERY]
    dataset = xr.Dataset(
        {
            name: (over, np.array([[one[name] for one in row] for row in counted]))
            for name in counted[0][0]
        },
        {
            "program": [program.id for program in EVERY],
            "program_label": ("program", [program.label for program in EVERY]),
            "n": np.array(sizes, np.int64),
        },
    )
    return annotate(dataset, BLOCK_PROGRAMS)


def _one(program: Program, n: int, seed: int, tiles: Tiles) -> dict[str, float]:
    outcome = program.run(n, np.random.default_rng(seed), tiles)
    counters, by_hand = outcome.launched.counters, program.expected(n, tiles)
    return {
        **{name: counters[name] for name in BLOCK_COUNTERS},
        "expected_load_bytes": by_hand["load_bytes"],
        "expected_store_bytes": by_hand["store_bytes"],
        "hazards": outcome.launched.hazard_count,
        "max_abs_error": outcome.max_abs_error(),
    }
