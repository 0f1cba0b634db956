"""The ladder: every kernel that the lecture shows, in its order."""

from pipeline.kernels import (
    k01_naive,
    k02_coalesced,
    k03_smem,
    k04_blocktile_1d,
    k05_blocktile_2d,
    k06_vectorized,
    k07_banks_linearized,
    k08_banks_padded,
    k09_autotuned,
    k10_warptiled,
    k11_double_buffered,
    k12_double_buffered_async,
    k13_tensor_core,
)
from pipeline.kernels.kernel import Kernel

KERNELS: dict[str, Kernel] = {
    module.KERNEL.id: module.KERNEL
    for module in (
        k01_naive,
        k02_coalesced,
        k03_smem,
        k04_blocktile_1d,
        k05_blocktile_2d,
        k06_vectorized,
        k07_banks_linearized,
        k08_banks_padded,
        k09_autotuned,
        k10_warptiled,
        k11_double_buffered,
        k12_double_buffered_async,
        k13_tensor_core,
    )
}
