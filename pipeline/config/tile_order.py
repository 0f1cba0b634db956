"""Settings of ``tile_order.zarr``: a product whose blocks start in one order or another."""

from typing import Annotated

from pydantic import Field

from pipeline.config.section import Section, Sizes, Whole, setting

# Curves take a step per tile; with these two limits at most four million.
LARGEST_N = 65536
SMALLEST_TILE = 32

LARGEST_TILE = 1024
MOST_BLOCKS = 32
MOST_ROWS = LARGEST_N // SMALLEST_TILE

Tile = Annotated[Whole, Field(ge=SMALLEST_TILE, le=LARGEST_TILE)]

_TILES = f"{SMALLEST_TILE} to {LARGEST_TILE}"


class TileOrder(Section):
    """A product in FP32 whose blocks start in one order or another."""

    sizes: Sizes[Annotated[Whole, Field(ge=1, le=LARGEST_N)]] = setting(
        "Sizes n of the square matrices; tiles need not divide them. The picture shows the first.",
        "elements",
        f"list of 1 to {LARGEST_N}",
    )
    tile_m: Tile = setting("Rows of C that a block computes.", "elements", _TILES)
    tile_n: Tile = setting("Columns of C that a block computes.", "elements", _TILES)
    blocks_per_sm: Annotated[Whole, Field(ge=1, le=MOST_BLOCKS)] = setting(
        "Resident blocks per SM; with the SMs of a GPU they make a wave.",
        "1",
        f"1 to {MOST_BLOCKS}",
    )
    largest_group: Annotated[Whole, Field(ge=1, le=MOST_ROWS)] = setting(
        "Grouped orders have bands of 1 to this many tile rows.",
        "tile rows",
        f"1 to {MOST_ROWS}",
    )
