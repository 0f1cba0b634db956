"""Settings of the whole suite."""

import os
import shutil
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


NO_BROWSER = "no browser is found; on Debian: apt install chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser if there is none."""
    if browser_path() is None:
        lacking = pytest.mark.skip(reason=NO_BROWSER)
        for item in items:
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(lacking)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the rows of each table of tests, named by the property ``table``: tried, and right.

    Say in one line how many tests were skipped for want of a browser.
    """
    tried, right = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            tables = [value for name, value in report.user_properties if name == "table"]
            tried.update(tables)
            right.update(tables if outcome == "passed" else [])
    for table in sorted(tried):
        terminalreporter.write_line(f"{table}: {tried[table]} rows tried, {right[table]} right")
    skipped = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    if lacking := sum(NO_BROWSER in words for words in skipped):
        terminalreporter.write_line(f"{lacking} tests skipped: {NO_BROWSER}")


@pytest.fixture(scope="session")
def browser():
    """Chromium as the system has it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        # Chromium refuses its sandbox to root; what is opened here is our own.
        options = {"executable_path": browser_path(), "args": ["--no-sandbox"]}
        chromium = started.chromium.launch(**options)
        yield chromium
        chromium.close()


def browser_path() -> str | None:
    """Where the browser is; none if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)
