"""Every store and every picture of the real workflow says what made it, as the manifest does."""

import json
import xml.etree.ElementTree as ET

import pytest
import xarray as xr
from PIL import Image

pytestmark = pytest.mark.workflow


def said_by(path):
    """What a result says made it; nothing where its kind has no place for it."""
    if path.suffix == ".zarr":
        return xr.open_zarr(path).attrs["provenance"]
    if path.suffix == ".png":
        with Image.open(path) as picture:
            return picture.text["Source"]
    if path.suffix == ".svg":
        return ET.parse(path).find(".//{http://purl.org/dc/elements/1.1/}source").text
    return ""


def test_results__say_what_made_them(built):
    manifest = json.loads(built.text("results/manifest.json"))
    seen = dict.fromkeys([".zarr", ".png", ".svg"], 0)
    for entry in manifest.values():
        for path in map(built.folder.joinpath, entry["outputs"]):
            if said := said_by(path):
                seen[path.suffix] += 1
                told = json.loads(said)
                assert (told["code"], told["versions"]) == (entry["code"], entry["versions"])
                assert set(told["settings"]) == set(entry["settings"])
                assert not {str(built.folder), "results/"} & set(said.split('"'))
    assert all(count > 10 for count in seen.values()), seen
