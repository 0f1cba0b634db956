"""Settings of ``block_programs.zarr``: sizes of arrays and of the blocks that programs work on."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.config.section import LARGEST_SEED, Section, Sizes, Whole, setting

LARGEST_N = 2048
LARGEST_TILE = 256
LARGEST_BLOCK = 65536
MOST_HEADS = 64


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise PydanticCustomError("power", "must be a power of two: blocks have no other sizes")
    return value


Tile = Annotated[Whole, Field(ge=1, le=LARGEST_TILE), AfterValidator(_power_of_two)]
_TILES = f"power of two up to {LARGEST_TILE}"


class BlockTiles(Section):
    """Sizes of the blocks that programs work on."""

    block: Annotated[Whole, Field(ge=1, le=LARGEST_BLOCK), AfterValidator(_power_of_two)] = setting(
        "Elements of a program where elements are independent: vector add, dropout.",
        "elements",
        f"power of two up to {LARGEST_BLOCK}",
    )
    tile_m: Tile = setting("Rows of C that a program of the product computes.", "elements", _TILES)
    tile_n: Tile = setting("Columns of C that it computes.", "elements", _TILES)
    tile_k: Tile = setting(
        "Elements of a row of A that it multiplies at a time.", "elements", _TILES
    )
    group: Annotated[Whole, Field(ge=1, le=LARGEST_N)] = setting(
        "Rows of tiles that programs of the product go through together.",
        "tile rows",
        f"1 to {LARGEST_N}",
    )
    query_rows: Tile = setting("Tokens that a program of attention keeps.", "tokens", _TILES)
    key_rows: Tile = setting("Keys that it takes at a time.", "tokens", _TILES)
    heads: Annotated[Whole, Field(ge=1, le=MOST_HEADS)] = setting(
        "Heads of attention.", "1", f"1 to {MOST_HEADS}"
    )
    head_size: Tile = setting("Elements of a head.", "elements", _TILES)


class BlockPrograms(Section):
    """Triton-style programs, run and counted."""

    sizes: Sizes[Annotated[Whole, Field(ge=1, le=LARGEST_N)]] = setting(
        "Sizes n: arrays are n by n, attention has n tokens. Blocks need not divide them.",
        "elements",
        f"list of 1 to {LARGEST_N}; lecture10.second_n is one",
    )
    seed: Annotated[Whole, Field(ge=0, le=LARGEST_SEED)] = setting(
        "Seed of the arrays. Counts do not depend on it, rounding errors do.",
        "1",
        f"0 to {LARGEST_SEED}",
    )
    tiles: BlockTiles
