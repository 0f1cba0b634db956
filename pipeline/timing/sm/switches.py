"""What switches of mechanisms change in code and traces; those of figures are in ``rates``."""

import numpy as np

from pipeline.timing.sm.code import FREE, LOCAL, WAIT_GROUPS, Code
from pipeline.timing.sm.mechanisms import Mechanisms
from pipeline.timing.sm.trace import Trace


def switched_code(code: Code, on: Mechanisms) -> Code:
    """Return the columns of a program without what is switched off; if it has none, as they are."""
    if not on.stall_counts:
        code = code._replace(stall=np.ones_like(code.stall))
    if not on.scoreboards:
        code = code._replace(wait=np.zeros_like(code.wait))
    if not on.async_copies and (code.unit == WAIT_GROUPS).any():
        # Nobody waits for them.
        code = code._replace(unit=np.where(code.unit == WAIT_GROUPS, FREE, code.unit))
    if not on.local_memory and (code.unit == LOCAL).any():
        code = code._replace(unit=np.where(code.unit == LOCAL, FREE, code.unit))
    return code


def switched_trace(trace: Trace, on: Mechanisms) -> Trace:
    """Return a trace without what is switched off."""
    if on.wavefronts:
        return trace
    return trace._replace(
        wavefronts=np.minimum(trace.wavefronts, 1),
        stored_wavefronts=np.minimum(trace.stored_wavefronts, 1),
    )
