"""What the tests of the workflow stand on."""

import pytest

from tests.workflow.scratch import Scratch

# Says how it was started, and which modules of the project there are; ends with a code.
TOLD = """
import os, sys
print(sys.argv[1:], os.getcwd(), __name__, [name for name in sys.modules if name == "pipeline"])
sys.stdout.flush()
sys.stderr.write("wrong\\n")
sys.exit(3)
"""

pytestmark = pytest.mark.workflow


def test_whole__is_built_once_for_all_workers(whole):
    place = whole.folder.parent
    said = place.with_suffix(".lock").read_text(encoding="utf-8")
    assert said.count("built by ") == 1


def test_fork__has_nothing_of_the_project_and_runs_as_a_program(tmp_path):
    scratch = Scratch(tmp_path, tmp_path)
    (tmp_path / "told.py").write_text(TOLD)
    forked, alone = (run("told", "a", "b") for run in (scratch.python, scratch.process))
    assert forked == alone
    assert forked == (3, f"['a', 'b'] {tmp_path} __main__ []\nwrong\n")
