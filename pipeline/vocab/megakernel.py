"""A megakernel, instruction by instruction."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

ACTIVITIES = {
    "counter": "waits for the counters of its inputs",
    "setup": "sets an instruction up",
    "inputs": "reads counters and inputs",
    "keys_values": "reads keys and values",
    "sync": "passes barriers between warps",
    "norm": "norms its input",
    "multiply": "multiplies weights",
    "weights": "waits for weights",
    "idle": "has no instruction left",
}
"""What an SM does, in the order in which it does it."""

SIGNAL = "signal"
"""On the critical path only: a result is stored, and its counter."""

_INSTRUCTIONS = {
    "instruction": Variable("1", "number of the instruction, in the order of dealing out"),
    "operation": Variable("1", "operation that it is a part of"),
    "layer": Variable("1", "layer of the model; -1 after the last"),
    "sm": Variable("1", "SM"),
    "begin": Variable("s", "its SM turns to it"),
    "ready": Variable("s", "the last of its counters is seen; 0 without counters"),
    "set_up": Variable("s", "it is set up"),
    "read": Variable("s", "its inputs are there"),
    "loaded": Variable("s", "its keys and values are there"),
    "start": Variable("s", "it begins to multiply"),
    "end": Variable("s", "it is done"),
    "multiply_t": Variable("s", "of it multiplying, without waiting for weights"),
    "waited_for": Variable("1", "instruction whose counter came last; -1 without counters"),
    "is_critical": Variable("1", "whether it is on the critical path"),
    "bytes": Variable("byte", "weights, keys and values that it reads"),
}

MEGAKERNEL = DIMENSIONS | {
    "model": Variable("1", "id of the language model"),
    "assignment": Variable("1", "which blocks of rows an instruction gets"),
    "sm": _INSTRUCTIONS["sm"],
    "activity": Variable("1", "what an SM does; signal: what it made becomes seen elsewhere"),
    "t": Variable("s", "time of one decode step"),
    "ideal_t": Variable("s", "time to read everything once at the full DRAM bandwidth"),
    "bandwidth_utilisation": Variable("1", "ideal_t over t"),
    "per_second": Variable("s-1", "decode steps per second"),
    "instructions": Variable("1", "instructions of one step"),
    "instructions_per_layer": Variable("1", "instructions of one layer"),
    "bytes": Variable("byte", "what one step reads"),
    "sm_t": Variable("s", "time of an SM per activity; NaN beyond the SMs of the GPU"),
    "busy_t": Variable("s", "time that an SM sets up, norms, multiplies and passes barriers"),
    "wait_t": Variable("s", "time that an SM waits for counters and inputs"),
    "load_t": Variable("s", "time that an SM waits for weights, keys and values"),
    "critical_t": Variable("s", "time of the critical path per activity; sums to t"),
}

MEGAKERNEL_TRACE = (
    DIMENSIONS
    | _INSTRUCTIONS
    | {
        "interval": Variable("1", "number of an interval of equal length, from the start"),
        "interval_begin": Variable("s", "when the interval begins"),
        "served_bandwidth": Variable("byte/s", "what DRAM served in the interval"),
    }
)
