"""Variables of ``block_programs.zarr``: what block programs move and compute."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

BLOCK_COUNTERS = {
    "programs": Variable("1", "programs launched"),
    "loads": Variable("1", "loads of a block or a scalar, one per program"),
    "stores": Variable("1", "stores of a block or a scalar, one per program"),
    "atomics": Variable("1", "atomics on a block or a scalar, one per program"),
    "load_bytes": Variable("byte", "bytes that loads asked for, masked elements left out"),
    "store_bytes": Variable("byte", "bytes that stores wrote, masked elements left out"),
    "atomic_bytes": Variable("byte", "bytes that atomics changed, masked elements left out"),
    "load_sectors": Variable("1", "32-byte sectors touched by loads, distinct per load"),
    "store_sectors": Variable("1", "32-byte sectors touched by stores, distinct per store"),
    "atomic_sectors": Variable("1", "32-byte sectors touched by atomics, distinct per atomic"),
    "dot_flops": Variable("1", "floating-point operations of tl.dot, two per multiply-add"),
}

BLOCK_PROGRAMS = (
    DIMENSIONS
    | BLOCK_COUNTERS
    | {
        "n": Variable(
            "1", "size: arrays are n by n, attention has n tokens with heads of a fixed size"
        ),
        "program": Variable("1", "block program id"),
        "program_label": Variable("1", "name of the block program as shown to readers"),
        "expected_load_bytes": Variable("byte", "bytes of loads, counted by hand"),
        "expected_store_bytes": Variable("byte", "bytes of stores, counted by hand"),
        "hazards": Variable("1", "stores of different values to one element"),
        "max_abs_error": Variable("1", "largest error of any result against float64 by numpy"),
    }
)
