"""Transpose an n by n matrix in three ways: naive, through shared memory, and with padded rows.

config/config.yaml names each of them under own_kernels; docs/OWN_KERNELS.md is the guide. All three
move the same bytes with the same number of loads and stores. What differs is which addresses the 32
threads of a warp touch together.

A block of 32 by 8 threads covers a tile of 32 by 32 elements: each thread moves four of them, eight
rows apart.
"""

TILE = 32
ROWS = 8


def transposed(x):
    """Specification: what `out` must hold."""
    return x.T


def naive(blk, x, out, n):
    """Read along a row, write down a column: the lanes of a store lie n elements apart."""
    col = blk.bx * TILE + blk.tx
    for step in range(0, TILE, ROWS):
        row = blk.by * TILE + blk.ty + step
        with blk.where((row < n) & (col < n)):
            blk.store(out, col * n + row, blk.load(x, row * n + col))


def tiled(blk, x, out, n, pitch=TILE):
    """Turn the tile round in shared memory, so that loads and stores both run along rows.

    The tile is written along its rows and read down its columns. With a pitch of 32 words a column
    lies in a single bank, and its 32 words are served one by one. With a pitch of 33 the words of a
    column lie in 32 different banks.
    """
    tile = blk.shared("tile", TILE * pitch)
    col = blk.bx * TILE + blk.tx
    for step in range(0, TILE, ROWS):
        row = blk.by * TILE + blk.ty + step
        with blk.where((row < n) & (col < n)):
            blk.sstore(tile, (blk.ty + step) * pitch + blk.tx, blk.load(x, row * n + col))
    blk.sync()  # the tile is full
    col = blk.by * TILE + blk.tx  # of out: blocks change places as well
    for step in range(0, TILE, ROWS):
        row = blk.bx * TILE + blk.ty + step
        with blk.where((row < n) & (col < n)):
            blk.store(out, row * n + col, blk.sload(tile, blk.tx * pitch + blk.ty + step))
