"""Figures of the GPU sheets that only the replay of an SM reads."""

from pipeline.vocab.gpus import GPUS
from pipeline.vocab.variable import Variable

REPLAY_FIGURES = {
    "fma_pipes": Variable("1", "FP32 pipes of a sub-core"),
    "fma_interval": Variable("1", "cycles for which an FP32 pipe is taken by an instruction"),
    "alu_interval": Variable("1", "cycles for which the integer pipe is taken"),
    "uniform_interval": Variable("1", "cycles for which the uniform pipe is taken"),
    "special_interval": Variable("1", "cycles for which the special-function pipe is taken"),
    "double_interval": Variable("1", "cycles for which the FP64 pipe is taken"),
    "special_latency": Variable("1", "cycles to the result of special functions and the like"),
    "operand_latency": Variable("1", "cycles until such an instruction has read its operands"),
    "operand_window": Variable("1", "cycles within which the operands of an instruction are read"),
    "access_queue": Variable("1", "memory instructions that wait in a sub-core"),
    "address_interval": Variable("1", "cycles for which the address unit of a sub-core is taken"),
    "address_latency": Variable("1", "cycles until the address of an access is known"),
    "access_interval": Variable("1", "cycles between accesses that the load/store unit takes"),
    "operand_release": Variable("1", "cycles from there until the operands have been read"),
    "loads_pending": Variable("1", "loads of warps that L1 keeps waiting for data"),
    "data_backlog": Variable("1", "cycles of work before the data stage that stop new accesses"),
    "shared_latency": Variable("1", "cycles from issue to use of a load from shared memory"),
    "l1_latency": Variable("1", "cycles from issue to use of a load that hits in L1"),
    "l1_tags_per_clk": Variable("1", "lines that the tag stage of L1 looks up per cycle"),
    "l1_fills_per_clk": Variable("1", "sectors that come into L1 per cycle of the data stage"),
    "l1_bytes": Variable("byte", "L1 and shared memory together"),
    "l2_port_bytes_per_clk": Variable("byte", "from L2 to an SM per cycle, at most"),
    "barrier_latency": Variable("1", "cycles from the last arrival at a barrier"),
    "code_bytes": Variable("byte", "instruction cache of a sub-core"),
    "code_latency": Variable("1", "cycles of a jump to instructions that are not in it"),
    "launch_gap": Variable("s", "from one kernel to the next in a stream"),
    "l2_latency_near": Variable("1", "cycles to the nearest part of L2"),
    "l2_latency_far": Variable("1", "cycles to the farthest part of L2"),
    "l2_partitions": Variable(
        "1", "parts of L2: 2 where latency has two values, 1 where it spreads"
    ),
    "l2_bytes_per_clk": Variable("byte", "from L2 to all SMs per cycle"),
    "dram_latency": Variable("1", "cycles to DRAM"),
    "clock_light": Variable("Hz", "SM clock under a light load"),
    "power_share": Variable(
        "1", "load up to which the clock is kept: FP32 pipes, and a third of the L1 data stage"
    ),
    "smem_configurations": Variable(
        "byte", "capacities that shared memory may have, the largest one repeated"
    ),
}

SM_GPUS = (
    GPUS
    | REPLAY_FIGURES
    | {
        "arch": Variable("1", "architecture whose machine code the GPU runs"),
        "configuration": Variable("1", "number of a capacity of shared memory"),
    }
)
