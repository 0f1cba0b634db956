"""The first layers of a decode step on a time axis."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

INSTRUCTIONS = "megakernel_instructions"
"""Execution that stands for the megakernel instruction by instruction."""

SM_PARTS = {
    "counter": "waiting for counters",
    "setup": "set-up",
    "inputs": "reading inputs",
    "keys_values": "reading keys and values",
    "prepare": "norms and barriers",
    "work": "multiplying",
}
"""Parts of an instruction, in order."""

WORK = "work"
"""What an instruction does from its first weight on: it multiplies, and waits for weights."""

DECODE_SPANS = DIMENSIONS | {
    "model": Variable("1", "id of the language model"),
    "model_name": Variable("1", "name of the language model as shown to readers"),
    "execution": Variable("1", "id of the execution"),
    "execution_label": Variable("1", "name of the execution as shown to readers"),
    "span_execution": Variable("1", "execution that the span belongs to"),
    "track": Variable("1", "SM; 0 where kernels run one after the other"),
    "group": Variable("1", "number of the kernel or instruction that the span is a part of"),
    "operation": Variable("1", "what the kernel or instruction does"),
    "layer": Variable("1", "layer of the model"),
    "part": Variable("1", "part of a timeline, or activity of an SM"),
    "begin": Variable("s", "when the span begins"),
    "end": Variable("s", "when the span ends"),
    "after": Variable("1", "group that this one waited for; -1 for none"),
    "sample_execution": Variable("1", "execution that the sample belongs to"),
    "sample_begin": Variable("s", "from when on DRAM serves that much"),
    "bandwidth": Variable("byte/s", "what DRAM serves from then on"),
}
