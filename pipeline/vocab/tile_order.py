"""Variables of ``tile_order.zarr``: what the order of the blocks does to DRAM traffic."""

from collections.abc import Mapping

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.occupancy import LAUNCH_FACTS, RESIDENCY
from pipeline.vocab.predictions import PREDICTIONS
from pipeline.vocab.variable import Variable

ORDER = "order_"
"""In front of the names of what is stored per named order."""

_TRAFFIC = {
    "dram_bytes": PREDICTIONS["dram_bytes"],
    "t_dram": PREDICTIONS["t_dram"],
    "rows_per_wave": Variable("1", "mean over the waves of the tile rows of A that they touch"),
    "cols_per_wave": Variable("1", "mean over the waves of the tile columns of B that they touch"),
}


def _per_order(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    return {
        ORDER + name: Variable(one.units, f"{one.long_name}; orders that have a name")
        for name, one in variables.items()
    }


TILE_ORDER = (
    DIMENSIONS
    | _TRAFFIC
    | _per_order(_TRAFFIC)
    | {
        "group": Variable("1", "tile rows per band, walked column by column; 0 is row-major"),
        "order": Variable("1", "order of the tiles that has a name"),
        "wave": Variable("1", "blocks that run at the same time on the whole GPU"),
        "waves": Variable("1", "waves of blocks, the last one perhaps not full"),
        "tile_m": LAUNCH_FACTS["tile_m"],
        "tile_n": LAUNCH_FACTS["tile_n"],
        "blocks_per_sm": RESIDENCY["blocks_per_sm"],
    }
)
