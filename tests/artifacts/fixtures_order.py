"""Results about block order and shared memory: the real ones, which take a moment."""

from pathlib import Path

from pipeline.counting.bank_patterns import bank_patterns
from pipeline.measured.kernels import claimed_reads
from pipeline.timing.block_order import block_orders
from tests.artifacts import fixtures

DATA = Path(__file__).parents[2] / "data"


def tile_order():
    """Two sizes, of which one has cut tiles."""
    return block_orders(fixtures.gpus(), (2000, 4096), 128, 128, 2, 40)


def claims():
    return claimed_reads(DATA / "measured/smem_reads.csv")


STORES = {
    "tile_order": tile_order,
    "bank_patterns": bank_patterns,
    "claimed_reads": claims,
}
