"""Record what each shared-memory instruction of a kernel does, by itself."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.blocks import Blocks, Triple
from pipeline.simt.counting_block import CountingBlock
from pipeline.simt.hazards_fast import STORE
from pipeline.simt.memory import SharedArray

WARP = 32


@dataclass(frozen=True)
class Recorded:
    """One call of ``sload`` or ``sstore`` by one block, and what it costs.

    Attributes
    ----------
    array
        Name of the shared array.
    store
        Whether it is a store.
    access_bytes
        Bytes per lane and instruction (B).
    address : (32,)
        Byte address of each lane of the first warp in its first instruction.
    counters
        What the call adds to the counters.
    """

    array: str
    store: bool
    access_bytes: int
    address: NDArray[np.int64]
    counters: Counter[str]


@dataclass
class Recorder(Accounting):
    """Counters of a launch that also keep each access to shared memory.

    Attributes
    ----------
    calls
        The accesses, in the order of the kernel.
    """

    calls: list[Recorded] = field(default_factory=list)

    def shared_access(self, access: Access, array: SharedArray, blocks: Blocks, kind: int) -> None:
        """Count shared loads or stores, and keep what they did."""
        before = Counter(self.counters)
        super().shared_access(access, array, blocks, kind)
        itemsize = array.flat.itemsize
        first = access.const + int(access.block[0, 0]) + access.thread[0, :WARP]
        self.calls.append(
            Recorded(
                array.name,
                kind == STORE,
                access.width * itemsize,
                first * itemsize,
                self.counters - before,
            )
        )


def record(
    kernel: Callable[..., None], block: Triple, *args: object, rule: str = "lecture"
) -> list[Recorded]:
    """Run one block of a kernel without values, and keep its accesses to shared memory.

    Parameters
    ----------
    kernel
        What every thread does; called with a block and ``args``.
    block
        Threads per block along x, y and z; whole warps.
    *args
        Arguments after the block; arrays are :class:`pipeline.simt.memory.GlobalArray` objects.
    rule
        How shared-memory wavefronts are counted.
    """
    recorder = Recorder(rule)
    kernel(CountingBlock(recorder, (1, 1, 1), block, np.zeros(1, np.int64)), *args)
    return recorder.calls
