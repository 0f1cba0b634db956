"""Every key of a profile is one that Snakemake knows, or a plugin of the profile's executor."""

import pytest
import yaml
from snakemake.cli import get_argument_parser

from tests.workflow.scratch import CHECKOUT

PROFILES = sorted((CHECKOUT / "workflow/profiles").glob("*/config.yaml"))
KNOWN = {
    option.removeprefix("--")
    for action in get_argument_parser()._actions
    for option in action.option_strings
}


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.parent.name)
def test_profile__keys_are_known(path):
    held = yaml.safe_load(path.read_text(encoding="utf-8"))
    own = f"{held.get('executor', 'local')}-"
    assert [key for key in held if key not in KNOWN and not key.startswith(own)] == []


def test_profiles__agree_on_what_is_made_again():
    profiles = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in PROFILES]
    for key in ("rerun-triggers", "rerun-incomplete", "keep-going", "scheduler", "nolock"):
        assert len({str(held[key]) for held in profiles}) == 1
    assert {path.parent.name for path in PROFILES} == {"default", "kubernetes", "slurm"}
