"""Predicted times, what sets them, and the rates that follow."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

PREDICTIONS = DIMENSIONS | {
    "t_fma": Variable("s", "time if FP32 multiply-adds alone set the pace"),
    "t_tensor": Variable("s", "time if tensor-core multiply-adds alone set the pace"),
    "t_issue": Variable("s", "time if warp instruction issue alone set the pace"),
    "t_l1": Variable("s", "time if L1 cache lines alone set the pace"),
    "t_smem": Variable("s", "time if shared-memory wavefronts alone set the pace"),
    "t_dram": Variable("s", "time if DRAM traffic alone set the pace"),
    "t": Variable("s", "predicted run time: the slowest resource, all others overlapped"),
    "bound": Variable(
        "1",
        "resource that sets the time; none if no block fits on an SM, or an instruction is missing",
    ),
    "gflops": Variable("GFLOP/s", "predicted rate, two FLOP per multiply-add"),
    "dram_bytes": Variable("byte", "DRAM traffic: A and B once per wave of blocks, C once"),
    "arithmetic_intensity": Variable("FLOP/byte", "FLOP per byte of DRAM traffic"),
}
