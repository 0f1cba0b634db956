"""What ``benchmarks/block_programs.py`` runs in Triton's own environment.

Triton's interpreter mode takes tensors of torch. It calls few of their methods, and a numpy array
dressed in those is enough: Triton and numpy are all that the environment needs.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

os.environ["TRITON_INTERPRET"] = "1"


class Memory:
    """The storage of a tensor: it is on the host already, so nothing is copied."""

    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        """Address of the first element."""
        return self.array.ctypes.data

    def cpu(self):
        """Give the storage on the host."""
        return self

    def copy_(self, other):
        """Take over results, which stand here already."""


class Dressed:
    """A numpy array with what the interpreter asks of a tensor."""

    def __init__(self, array):
        self.array = array
        self.dtype = str(array.dtype)

    def data_ptr(self):
        """Address of the first element."""
        return self.array.ctypes.data

    def untyped_storage(self):
        """Give the memory behind it."""
        return Memory(self.array)

    def new_empty(self, size, device):  # noqa: ARG002
        """Make the tensor that is then set to the same memory."""
        return Dressed(self.array)

    def set_(self, storage, offset, size, stride):
        """Take memory: it is the same."""

    def storage_offset(self):
        """Elements before the first."""
        return 0

    def size(self):
        """Shape."""
        return self.array.shape

    def stride(self):
        """Strides in elements."""
        return tuple(step // self.array.itemsize for step in self.array.strides)


def load(path):
    """Import a file of programs."""
    spec = importlib.util.spec_from_loader(
        Path(path).stem, importlib.machinery.SourceFileLoader(Path(path).stem, str(path))
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launch(program, grid, arguments):
    """Run a program on arrays and numbers."""
    dressed = {k: Dressed(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    program[grid](**dressed)


def matmul(path, n):
    """Seconds per program of the product."""
    program = load(path).grouped_matmul
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    c = np.empty((n, n), np.float16)
    sizes = dict.fromkeys(("M", "N", "K"), n)
    strides = {f"stride_{name}": step for name, step in zip(
        ("am", "ak", "bk", "bn", "cm", "cn"), (n, 1, n, 1, n, 1), strict=True)}  # fmt: skip
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}
    arguments = {"a_ptr": a, "b_ptr": b, "c_ptr": c} | sizes | strides | blocks
    launch(program, (1,), arguments)
    programs = (n // 64) ** 2
    start = time.perf_counter()
    launch(program, (programs,), arguments)
    seconds = time.perf_counter() - start
    right = a.astype(np.float32) @ b.astype(np.float32)
    error = float(np.abs(c - right).max())
    return {"seconds": seconds, "programs": programs, "error": error, "n": n}


def reference(path):
    """Results of every case of a file of programs."""
    found = {}
    for name, (program, grid, arguments) in load(path).cases().items():
        launch(program, grid, arguments)
        found[name] = {
            key: value.reshape(-1).tolist()
            for key, value in arguments.items()
            if isinstance(value, np.ndarray)
        }
    return found


if __name__ == "__main__":
    what, file = sys.argv[1:3]
    print(json.dumps(matmul(file, int(sys.argv[3])) if what == "matmul" else reference(file)))
