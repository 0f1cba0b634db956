"""What the reading copy is made of."""

from pathlib import Path

import pytest
import yaml

from pipeline.artifacts.catalog import CATALOG
from pipeline.config import artifact_plan, site_plan
from pipeline.config.load import load

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def config():
    return load(yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8")))


def test_lectures__are_in_the_order_of_the_catalog():
    assert list(site_plan.lectures()) == ["lecture10", "lecture11"]
    assert site_plan.lectures()["lecture10"] == list(CATALOG[10])


def test_files__are_made_by_the_artifacts_and_hold_no_own_kernels(config):
    files = site_plan.files(config)
    made = [*artifact_plan.files("lecture10", config), *artifact_plan.files("lecture11", config)]
    assert set(files) < set(made)
    assert "results/lecture10/figures/roofline.zh.svg" in files
    assert "results/lecture10/words/roofline.json" in files
    assert not any(file.endswith((".png", ".md")) for file in files)


def test_files__of_one_language_have_no_other(config):
    chosen = config.model_copy(update={"language": "en"})
    assert not any(".zh." in file for file in site_plan.files(chosen))


def test_parts__are_files_of_the_package():
    parts = site_plan.parts()
    assert {"pipeline/site/assets/site.css", "pipeline/site/templates/layout.jinja"} <= set(parts)
    assert all((CHECKOUT / part).is_file() for part in parts)
