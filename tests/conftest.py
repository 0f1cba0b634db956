"""Settings of the whole suite."""

import os
from collections import Counter

import pytest
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Send everything that uses the built workflow to one process, so that it is built once."""
    for item in items:
        if item.get_closest_marker("workflow"):
            item.add_marker(pytest.mark.xdist_group("workflow"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the rows of each table of tests, named by the property ``table``: tried, and right."""
    tried, right = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            tables = [value for name, value in report.user_properties if name == "table"]
            tried.update(tables)
            right.update(tables if outcome == "passed" else [])
    for table in sorted(tried):
        terminalreporter.write_line(f"{table}: {tried[table]} rows tried, {right[table]} right")
