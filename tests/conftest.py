"""Settings of the whole suite."""

import os

from hypothesis import HealthCheck, settings

# The first example of a test compiles, and machines are noisy: no time limit per example. CI draws
# the same examples each time, so that a red run is about the change.
settings.register_profile(
    "paper-gpu",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("paper-gpu")
