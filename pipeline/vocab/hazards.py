"""Variables of ``hazards.zarr``: races when a barrier is left out."""

from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

HAZARDS = DIMENSIONS | {
    "race_count": COUNTERS["race_count"],
    "raw_races": Variable(
        "1", "instructions that read what another warp wrote since the last barrier, per block"
    ),
    "war_races": Variable(
        "1", "instructions that overwrite what another warp read since the last barrier, per block"
    ),
    "waw_races": Variable(
        "1", "instructions that overwrite what another warp wrote since the last barrier, per block"
    ),
}
