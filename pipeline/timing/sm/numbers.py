"""Reasons and pipes as numbers, and how compiled parts of the replay are made."""

from functools import partial

from pipeline import loops
from pipeline.timing.sm.result import PIPES, STALLS

(SELECTED, NOT_SELECTED, WAIT, LONG, SHORT, MIO, LG, MATH, AT_BARRIER, DISPATCH, FETCH,
 DRAIN) = range(len(STALLS))  # fmt: skip
(P_ISSUE, P_HEAVY, P_LITE, P_ALU, P_UNIFORM, P_SPECIAL, P_TENSOR, P_LSU, P_DATA, P_TAGS, P_L2,
 P_DRAM) = range(len(PIPES))  # fmt: skip

PIPE_OF_UNIT = (P_LITE, P_HEAVY, P_ALU, P_UNIFORM, P_SPECIAL, P_TENSOR)
"""Over the units of :mod:`pipeline.timing.sm.code`, as far as they are pipes that are shown."""

compiled = partial(loops.compiled, _nrt=False)
"""For functions that make no array: counting who refers to the one they are given, at every call
and so that threads may do it too, takes as long as all that they do."""

inlined = compiled(forceinline=True)
"""Called in every cycle: what is not inlined costs more than it does."""
