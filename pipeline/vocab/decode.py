"""One decode step: what is read, how it is launched, where the time goes."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.gpus import FIGURES
from pipeline.vocab.variable import Variable

DECODE_DIMENSIONS = {
    "gpu": DIMENSIONS["gpu"],
    "gpu_name": DIMENSIONS["gpu_name"],
    "model": Variable("1", "language model id"),
    "model_name": Variable("1", "name of the language model as shown to readers"),
    "execution": Variable("1", "way to launch the operations of a step"),
    "execution_label": Variable("1", "name of the way to launch as shown to readers"),
    "context": Variable("1", "tokens per sequence whose keys and values are read"),
    "batch": Variable("1", "sequences that are decoded together"),
}

LEDGER = DECODE_DIMENSIONS | {
    "operation": Variable("1", "operations that run as one instruction"),
    "bytes_per_layer": Variable(
        "byte", "bytes that one run of the operation reads: one layer's, or the head's"
    ),
    "weight_bytes": Variable("byte", "part of bytes_per_layer that is weights, scales included"),
    "kv_bytes": Variable("byte", "part of bytes_per_layer that is keys and values"),
    "bytes_total": Variable("byte", "bytes that the operation reads in one step"),
    "share": Variable("1", "bytes_total as a share of all bytes of the step"),
    "count": Variable("1", "runs of the operation in one step"),
    "rows": Variable("1", "rows of the operation's weight matrices; 0 without weights"),
    "blocks": Variable("1", "thread blocks of one run"),
    "parameters": Variable("1", "trained numbers of the model"),
}

TIMES = {
    "t": Variable("s", "time of one decode step"),
    "bandwidth_utilisation": Variable(
        "1", "time to read everything once at the full DRAM bandwidth, as a share of t"
    ),
}

TIMELINE = (
    DECODE_DIMENSIONS
    | TIMES
    | {
        "per_second": Variable("s-1", "decode steps per second"),
        "ideal_t": Variable("s", "time to read everything once at the full DRAM bandwidth"),
        "bytes": Variable("byte", "bytes that one step reads"),
        "dram_bandwidth": FIGURES["dram_bandwidth"],
        "launches": Variable("1", "kernels, or instructions of a megakernel, in one step"),
        "part": Variable("1", "what the time is spent on"),
        "part_t": Variable("s", "time spent on the part; the parts add up to t"),
        "launch_t": Variable("s", "from one kernel to the next; 0 in a megakernel"),
        "launch_source": Variable("1", "GPU on which launch_t was measured; empty in a megakernel"),
    }
)

WAVES = DECODE_DIMENSIONS | {
    "case": Variable("1", "launch whose waves are counted"),
    "case_label": Variable("1", "name of the launch, or its rows of weights, as shown to readers"),
    "operation": Variable("1", "operation of the step that is launched; empty for an example"),
    "blocks": LEDGER["blocks"],
    "n_sm": Variable("1", "SMs of the GPU"),
    "waves": Variable("1", "rounds in which the blocks run, one block per SM at a time"),
    "last_wave_blocks": Variable("1", "blocks of the last wave"),
    "idle_sms": Variable("1", "SMs without a block in the last wave"),
    "sm_utilisation": Variable("1", "share of the SMs at work, on average over all waves"),
}

SENSITIVITY = (
    DECODE_DIMENSIONS
    | TIMES
    | {
        "variant": Variable("1", "change of the assumptions; base is none"),
        "speedup": Variable("1", "time of the reference execution over t, both under the variant"),
        "parameter": Variable("1", "assumption that the variant changes; empty for base"),
        "value": Variable("1", "its value in SI units; NaN for base"),
        "base_value": Variable("1", "its value without the change, in SI units; NaN for base"),
    }
)
