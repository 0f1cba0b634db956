"""The small site, made once, in memory and in a folder."""

import pytest

from pipeline.site.folder import publish_folder
from tests.site.small import small_site


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return small_site(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def folder(made, tmp_path_factory):
    """A folder below another one, as under a sub-path of a server."""
    place = tmp_path_factory.mktemp("site") / "some path/site"
    place.parent.mkdir()
    publish_folder(made, place)
    return place
