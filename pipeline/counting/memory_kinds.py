"""What a compiled kernel asks of memory, by kind of access: instructions summed."""

import xarray as xr

from pipeline.vocab.compiled import MEMORY_KINDS
from pipeline.vocab.variable import annotate

KINDS = {
    "global loads": "LDG",
    "global stores": "STG",
    "global atomics": "ATOMG RED REDG",
    "copies to shared memory": "LDGSTS",
    "shared loads": "LDS",
    "shared matrix loads": "LDSM",
    "shared stores": "STS",
    "shared atomics": "ATOMS",
    "local loads": "LDL",
    "local stores": "STL",
    "generic accesses": "LD ST ATOM",
}
"""Kinds in the order in which they are shown, with their opcodes."""

_SUMMED = (
    "executed", "requests", "sectors", "ideal_sectors", "lines", "wavefronts", "ideal_wavefronts",
)  # fmt: skip
_OPCODE = r"^(?:@!?U?P\w+\s+)?([A-Z0-9]+)"


def memory_kinds(instructions: xr.Dataset) -> xr.Dataset:
    """Sum what instructions asked of memory by kind of access.

    Parameters
    ----------
    instructions : (instruction,)
        As :func:`pipeline.counting.compiled_counts.instructions` arranges them.

    Returns
    -------
    (access,)
        Kinds that the code has, in the order of ``KINDS``: how often they ran, requests, sectors,
        lines and wavefronts, and the ideal of the last two. Of a copy to shared memory sectors and
        lines are those it reads, wavefronts those it writes with.
    """
    frame = instructions[[*_SUMMED, "text"]].reset_coords(drop=True).to_dataframe()
    kind = {opcode: name for name, opcodes in KINDS.items() for opcode in opcodes.split()}
    frame["access"] = frame["text"].str.extract(_OPCODE)[0].map(kind)
    summed = frame.groupby("access")[list(_SUMMED)].sum()
    ordered = summed.loc[[name for name in KINDS if name in summed.index]]
    return annotate(ordered.rename_axis("access").to_xarray(), MEMORY_KINDS)
