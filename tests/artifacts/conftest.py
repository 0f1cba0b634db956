"""Settings of the artifact tests."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--regen", action="store_true", default=False, help="rewrite the golden tables"
    )


@pytest.fixture
def regen(request):
    return request.config.getoption("--regen", default=False)
