"""Every claim, in the order in which the lectures make them."""

from pipeline.claims.claim import Claim
from pipeline.claims.lecture10 import (
    banks,
    block_programs,
    compiled,
    counts,
    hardware,
    profiled,
    rates,
    replay,
    shared_memory,
    tensor_cores,
    tile_order,
    tiles,
    validation,
)
from pipeline.claims.lecture11 import (
    assumptions,
    parts,
    published,
    reading,
    timeline,
    waves,
)

MODULES = (
    hardware,
    counts,
    shared_memory,
    banks,
    rates,
    validation,
    tiles,
    tile_order,
    tensor_cores,
    profiled,
    block_programs,
    compiled,
    replay,
    reading,
    timeline,
    parts,
    waves,
    assumptions,
    published,
)
CLAIMS: tuple[Claim, ...] = tuple(one for module in MODULES for one in module.CLAIMS)
