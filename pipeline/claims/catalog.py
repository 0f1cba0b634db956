"""Every claim, in the order of the lectures."""

from pipeline.claims.claim import Claim
from pipeline.claims.lecture10 import counts, memory, programs, rates
from pipeline.claims.lecture11 import published, reading, timing, waves

MODULES = (counts, memory, rates, programs, reading, timing, waves, published)
CLAIMS: tuple[Claim, ...] = tuple(one for module in MODULES for one in module.CLAIMS)
