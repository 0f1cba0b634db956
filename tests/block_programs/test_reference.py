"""A file written for Triton, with only its imports changed, gives what Triton gives."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parents[1] / "data"
SOURCE = DATA / "triton_programs.txt"
IMPORTS = {
    "import triton\n": "import pipeline.block_programs.triton as triton\n",
    "import triton.language as tl\n": "import pipeline.block_programs.language as tl\n",
}
REFERENCE = json.loads((DATA / "triton_reference.json").read_text(encoding="utf-8"))["results"]

# A float argument is float32 in compiled Triton, a number of the source in its interpreter mode;
# and that mode multiplies and adds float64 with one rounding, where numpy has two.
ROUNDING = {
    "float_arithmetic float16": 1e-3,
    "float_arithmetic float64": 1e-7,
}
DEFAULT = 2e-6


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    text = SOURCE.read_text(encoding="utf-8")
    for line, ours in IMPORTS.items():
        assert text.count(line) == 1
        text = text.replace(line, ours)
    path = tmp_path_factory.mktemp("programs") / "programs.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", REFERENCE)
def test_programs__equal_triton(programs, name):
    program, grid, arguments = programs.cases()[name]
    program[grid](**arguments)
    for argument, right in REFERENCE[name].items():
        made = arguments[argument].reshape(-1)
        if made.dtype.kind in "iu":
            np.testing.assert_array_equal(made, right, argument)
        else:
            rounding = ROUNDING.get(name, DEFAULT)
            np.testing.assert_allclose(made, right, rounding, rounding, err_msg=argument)


def test_reference__holds_every_case(programs):
    assert set(programs.cases()) == set(REFERENCE)
