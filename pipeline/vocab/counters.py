"""The event counters of one launch, in the order in which they are stored.

Each long name states what is counted. The Nsight Compute metric is the hardware counter that the
number stands for; where hardware is known to differ, ``docs/MODEL.md`` says how.
"""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

COUNTERS = {
    "blocks": Variable("1", "thread blocks launched", "launch__grid_size"),
    "threads": Variable("1", "threads launched", "launch__thread_count"),
    "warp_instr": Variable(
        "1",
        "warp instructions: accesses, atomics, FFMA, mma, shuffles, votes and barriers",
        "smsp__inst_executed.sum",
    ),
    "thread_instr": Variable(
        "1",
        "thread instructions: active lanes over all warp instructions",
        "smsp__thread_inst_executed.sum",
    ),
    "divergent_branches": Variable(
        "1",
        "warps that met a branch with lanes on both sides",
        "smsp__sass_branch_targets_threads_divergent.sum",
    ),
    "ffma_instr": Variable(
        "1", "FP32 multiply-add warp instructions", "smsp__sass_inst_executed_op_ffma_pred_on.sum"
    ),
    "fma": Variable(
        "1",
        "multiply-adds of all threads: one per active lane of an FFMA, and those of tensor cores",
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    ),
    "mma_instr": Variable(
        "1",
        "tensor-core multiply warp instructions (mma.m16n8k16)",
        "sm__inst_executed_pipe_tensor.sum",
    ),
    "mma_fma": Variable(
        "1",
        "multiply-adds of tensor cores, 2048 per warp and mma.m16n8k16; they are among fma",
        "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
    ),
    "gld_instr": Variable(
        "1", "global load warp instructions", "smsp__sass_inst_executed_op_global_ld.sum"
    ),
    "gst_instr": Variable(
        "1", "global store warp instructions", "smsp__sass_inst_executed_op_global_st.sum"
    ),
    "gld_sectors": Variable(
        "1",
        "32-byte sectors touched by global loads, distinct per warp instruction",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ),
    "gst_sectors": Variable(
        "1",
        "32-byte sectors touched by global stores, distinct per warp instruction",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ),
    "gld_lines": Variable(
        "1",
        "128-byte lines touched by global loads, distinct per warp instruction",
        "memory_l1_tag_requests_global",
    ),
    "gst_lines": Variable(
        "1",
        "128-byte lines touched by global stores, distinct per warp instruction",
        "memory_l1_tag_requests_global",
    ),
    "g_bytes_requested": Variable(
        "byte",
        "bytes that threads asked of global memory: loads, stores and atomics",
        "smsp__sass_data_bytes_mem_global.sum",
    ),
    "ldgsts_instr": Variable(
        "1",
        "asynchronous copy warp instructions (cp.async); their sectors and lines count as loads, "
        "their wavefronts as stores",
        "smsp__inst_executed_op_ldgsts.sum",
    ),
    "smem_instr": Variable(
        "1", "shared load and store warp instructions", "smsp__sass_inst_executed_op_shared.sum"
    ),
    "lds_instr": Variable(
        "1", "shared load warp instructions", "smsp__sass_inst_executed_op_shared_ld.sum"
    ),
    "sts_instr": Variable(
        "1", "shared store warp instructions", "smsp__sass_inst_executed_op_shared_st.sum"
    ),
    "smem_wavefronts": Variable(
        "1",
        "shared-memory wavefronts of loads and stores, bank conflicts included",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    ),
    "lds_wavefronts": Variable(
        "1",
        "shared-memory wavefronts of loads, bank conflicts included",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    ),
    "sts_wavefronts": Variable(
        "1",
        "shared-memory wavefronts of stores, bank conflicts included",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    ),
    "ldmatrix_instr": Variable(
        "1",
        "matrix load warp instructions (ldmatrix); their wavefronts count as loads",
        "smsp__inst_executed_op_ldsm.sum",
    ),
    "ldmatrix_wavefronts": Variable(
        "1",
        "shared-memory wavefronts of ldmatrix, bank conflicts included; they are among "
        "lds_wavefronts",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
    ),
    "ideal_smem_wavefronts": Variable(
        "1",
        "shared-memory wavefronts if no two words shared a bank",
        "memory_l1_wavefronts_shared_ideal",
    ),
    "gatom_instr": Variable(
        "1",
        "global atomic warp instructions, whether their result is used or not",
        "smsp__sass_inst_executed_op_global_atom.sum",
    ),
    "gatom_sectors": Variable(
        "1",
        "32-byte sectors touched by global atomics, distinct per warp instruction; they are no "
        "load or store sectors",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    ),
    "gatom_lines": Variable(
        "1",
        "128-byte lines touched by global atomics, distinct per warp instruction; they are no "
        "load or store lines",
    ),
    "gatom_conflicts": Variable(
        "1",
        "global atomics that wait for another lane: active lanes less distinct addresses, per warp "
        "instruction",
    ),
    "satom_instr": Variable(
        "1", "shared atomic warp instructions", "smsp__inst_executed_op_shared_atom.sum"
    ),
    "satom_wavefronts": Variable(
        "1",
        "shared-memory wavefronts of atomics: per group of lanes (32, or 16 for 64-bit elements) "
        "the largest number of active lanes on one bank, lanes on one word counted separately; not "
        "in smem_wavefronts",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    ),
    "shfl_instr": Variable(
        "1", "shuffle warp instructions, one per 32 bits of each value that a thread reads"
    ),
    "vote_instr": Variable("1", "vote warp instructions: ballot, any and all"),
    "barriers": Variable("1", "block-wide barriers, one per block"),
    "race_count": Variable(
        "1",
        "data hazards between warps, on shared memory, or blocks, on global memory: offending "
        "instructions, one report per block and instruction",
    ),
}

COUNTS = (
    DIMENSIONS
    | COUNTERS
    | {
        "simulated": Variable("1", "whether the kernel takes this size and was simulated at it"),
        "max_abs_error": Variable("1", "largest error of C against a float64 product"),
    }
)
