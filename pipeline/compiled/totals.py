"""What a launch did in all: per instruction, and under the names of the counters."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import Triple
from pipeline.compiled.instruction import Instruction
from pipeline.compiled.opcodes import CLASSES, OPCODES
from pipeline.compiled.roles import memory_words
from pipeline.compiled.tally import FIELDS, Tally

_GLOBAL_LOADS, _GLOBAL_STORES = ("LDG", "LD"), ("STG", "ST")
_GLOBAL_ATOMICS = ("ATOMG", "ATOM", "RED", "REDG")
_SHAPE = re.compile(r"(16|8)(8)(\d+)")


@dataclass
class Totals:
    """Sums over the blocks of a launch.

    Attributes
    ----------
    program, grid, block
        What was launched.
    executed, threads, on : (instructions,)
        Warps and lanes that ran each instruction; lanes for which its guard held.
    accesses : (instructions, fields)
        ``FIELDS`` of each access to memory.
    divergent, barriers
        Warps that parted at branches; barriers of whole blocks.
    """

    program: Program
    grid: Triple
    block: Triple
    executed: NDArray[np.int64] = field(init=False)
    threads: NDArray[np.int64] = field(init=False)
    on: NDArray[np.int64] = field(init=False)
    accesses: NDArray[np.int64] = field(init=False)
    divergent: int = 0
    barriers: int = 0

    def __post_init__(self) -> None:
        """Start from nothing."""
        count = len(self.program.instructions)
        self.executed = np.zeros(count, np.int64)
        self.threads = np.zeros(count, np.int64)
        self.on = np.zeros(count, np.int64)
        self.accesses = np.zeros((count, len(FIELDS)), np.int64)

    def add(self, tally: Tally, weight: NDArray[np.int64]) -> None:
        """Add the blocks of a batch, each as often as its weight says."""
        self.executed += tally.executed() @ weight
        threads = tally.threads_executed() @ weight
        self.threads += threads
        self.on += threads
        for position, count in tally.skipped.items():
            self.on[position] -= int(count @ weight)
        for position, costs in tally.accesses.items():
            self.accesses[position] += weight @ costs
        self.divergent += int(tally.divergent @ weight)
        self.barriers += int(tally.barriers @ weight)

    # ---------- summaries ----------

    def column(self, name: str) -> NDArray[np.int64]:
        """Return one of ``FIELDS`` of every instruction."""
        return self.accesses[:, FIELDS.index(name)]

    def by_opcode(self) -> dict[str, int]:
        """Return executed warp instructions per opcode, sorted by name."""
        found: dict[str, int] = {}
        for instruction, count in zip(
            self.program.instructions, self.executed.tolist(), strict=True
        ):
            found[instruction.opcode] = found.get(instruction.opcode, 0) + count
        return {name: count for name, count in sorted(found.items()) if count}

    def by_class(self) -> dict[str, int]:
        """Return executed warp instructions per class of opcodes, all classes in order."""
        found = dict.fromkeys(CLASSES, 0)
        for opcode, count in self.by_opcode().items():
            found[OPCODES[opcode]] += count
        return found

    def counters(self) -> Mapping[str, int]:
        """Return the counters of ``pipeline.vocab.counters`` that machine code gives."""
        ffma = self._where("FFMA")
        loads, stores = self._where(*_GLOBAL_LOADS), self._where(*_GLOBAL_STORES)
        atomics, copies = self._where(*_GLOBAL_ATOMICS), self._where("LDGSTS")
        shared_loads, shared_stores = self._where("LDS"), self._where("STS", "STSM")
        matrix_loads, products = self._where("LDSM"), self._where("HMMA", "IMMA")
        shared_atomics = self._where("ATOMS")
        fetched = loads | copies
        blocks = int(np.prod(self.grid))
        requests, waves = self.column("requests"), self.column("wavefronts")
        lds = waves[shared_loads | matrix_loads].sum()
        sts = waves[shared_stores | copies].sum()
        on_tensor_cores = self._tensor_multiply_adds(products)
        values = {
            "blocks": blocks,
            "threads": blocks * int(np.prod(self.block)),
            "warp_instr": self.executed.sum(),
            "thread_instr": self.threads.sum(),
            "divergent_branches": self.divergent,
            "ffma_instr": self.executed[ffma].sum(),
            "fma": self.on[ffma].sum() + on_tensor_cores,
            "mma_instr": self.executed[products].sum(),
            "mma_fma": on_tensor_cores,
            "gld_instr": requests[loads].sum(),
            "gst_instr": requests[stores].sum(),
            "gld_sectors": self.column("sectors")[fetched].sum(),
            "gst_sectors": self.column("sectors")[stores].sum(),
            "gld_lines": self.column("lines")[fetched].sum(),
            "gst_lines": self.column("lines")[stores].sum(),
            "g_bytes_requested": self._bytes(fetched | stores | atomics),
            "ldgsts_instr": requests[copies].sum(),
            "smem_instr": requests[shared_loads | shared_stores].sum(),
            "lds_instr": requests[shared_loads].sum(),
            "sts_instr": requests[shared_stores].sum(),
            "smem_wavefronts": lds + sts,
            "lds_wavefronts": lds,
            "sts_wavefronts": sts,
            "ldmatrix_instr": requests[matrix_loads].sum(),
            "ldmatrix_wavefronts": waves[matrix_loads].sum(),
            "ideal_smem_wavefronts": self.column("ideal_wavefronts")[
                shared_loads | matrix_loads | shared_stores | copies
            ].sum(),
            "gatom_instr": requests[atomics].sum(),
            "gatom_sectors": self.column("sectors")[atomics].sum(),
            "gatom_lines": self.column("lines")[atomics].sum(),
            "satom_instr": requests[shared_atomics].sum(),
            "satom_wavefronts": waves[shared_atomics].sum(),
            "shfl_instr": self.executed[self._where("SHFL")].sum(),
            "vote_instr": self.executed[self._where("VOTE", "VOTEU")].sum(),
            "barriers": self.barriers,
        }
        return {name: int(value) for name, value in values.items()}

    def words_per_load(self, *opcodes: str) -> float:
        """Return how many 32-bit words a lane gets by each load of these opcodes, on average."""
        chosen = self._where(*opcodes)
        times = int(self.executed[chosen].sum())
        sizes = np.array([access_bytes(one) for one in self.program.instructions], np.int64)
        moved = int((sizes * self.executed)[chosen].sum())
        return moved / _WORD / times if times else 0.0

    def _where(self, *opcodes: str) -> NDArray[np.bool_]:
        return np.array([one.opcode in opcodes for one in self.program.instructions], np.bool_)

    def _tensor_multiply_adds(self, products: NDArray[np.bool_]) -> int:
        """Sum the multiply-adds of tensor-core instructions, whose modifier is M, N and K."""
        instructions = self.program.instructions
        total = 0
        for position in np.flatnonzero(products).tolist():
            shapes = map(_SHAPE.fullmatch, instructions[position].modifiers)
            shape = next(filter(None, shapes))
            total += math.prod(map(int, shape.groups())) * int(self.executed[position])
        return total

    def _bytes(self, where: NDArray[np.bool_]) -> int:
        sizes = np.array([access_bytes(one) for one in self.program.instructions], np.int64)
        return int((sizes * self.column("lanes"))[where].sum())


_SMALL = {"U8": 1, "S8": 1, "8": 1, "U16": 2, "S16": 2, "16": 2}
_WORD = 4


def access_bytes(instruction: Instruction) -> int:
    """Return how many bytes a load or store moves per lane."""
    for name in instruction.modifiers:
        if name in _SMALL:
            return _SMALL[name]
    wide = {"F64", "S64", "U64"} & set(instruction.modifiers)
    return 2 * _WORD if wide else _WORD * memory_words(instruction.modifiers)
