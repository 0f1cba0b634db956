"""Names of the operations of a decode step, and of the parts of its time, as readers see them.

Apart from their looks: timelines as traces have names and no colours.
"""

from pipeline.words import message

# Ids of operations, and of groups that run together, to what readers see.
_OPERATIONS = {
    "qkv": "QKV",
    "attention": message("attention"),
    "o": "O",
    "gate_up": "gate/up",
    "lm_head": message("norm + head"),
}

_PARTS = {
    "read": message("reading"),
    "launch": message("launch gaps"),
    "ramp": message("ramp-up"),
    "small": message("small kernels"),
    "tail": message("last waves"),
    "stall": message("stalls"),
}
PARTS = tuple(_PARTS)


def operation_name(operation: str) -> str:
    """Name of a group of operations as shown to readers."""
    return _OPERATIONS.get(operation, operation.replace("_", " "))


def part_name(part: str) -> str:
    """Name of a part of the time as shown to readers."""
    return _PARTS[part]
