"""What is known of the user's own kernels besides the counters."""

from pipeline.vocab.counters import COUNTS
from pipeline.vocab.occupancy import LAUNCH_FACTS
from pipeline.vocab.traffic import TRAFFIC
from pipeline.vocab.variable import Variable

OWN_COUNTS = (
    COUNTS
    | TRAFFIC
    | {
        "max_abs_error": Variable("1", "largest error against the kernel's specification"),
        "smem_bytes": LAUNCH_FACTS["smem_bytes"],
        "failure": Variable("1", "why the kernel failed its check; empty if it passed"),
    }
)
