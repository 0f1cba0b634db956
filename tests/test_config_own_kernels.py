"""Kernels of the user's own in the configuration: what is accepted, what is said of the rest."""

import copy
from pathlib import Path

import pytest
import yaml

from pipeline.config.load import load
from pipeline.config.own_entry import OwnEntry
from pipeline.config.own_kernels import own_kernel
from pipeline.config.readme import readme
from pipeline.errors import ConfigError
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.kernels.registry import KERNELS

CHECKOUT = Path(__file__).resolve().parent.parent
TEXT = """\
def plain(blk, x, out, n): ...
def two_inputs(blk, x, y, out, n): ...
def needs_step(blk, x, out, n, step, *, wide): ...
def takes_any(blk, x, out, n, **options): ...
def short(blk, x, out): ...
def star(blk, *arrays): ...
def of_x(x, scale=2):
    return x
def of_two(x, y):
    return x
def of_nothing():
    return 0
def of_any(*arrays):
    return 0
"""
ENTRY = {
    "file": "mine.py",
    "kernel": "plain",
    "specification": "of_x",
    "block": [32, 8],
    "tile": [32, 32],
}


@pytest.fixture
def loaded(tmp_path):
    """Load the delivered configuration with these kernels of the user's own, and no others."""
    (tmp_path / "mine.py").write_text(TEXT, encoding="utf-8")
    given = yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8"))

    def loaded(own, **changes):
        config = copy.deepcopy(given) | {"own_kernels": own}
        for section, values in changes.items():
            config[section] |= values
        return load(config, checkout=tmp_path)

    return loaded


@pytest.fixture
def message(loaded):
    """What is said of a configuration with one kernel that is wrong."""

    def message(entry, name="mine", **changes):
        with pytest.raises(ConfigError) as caught:
            loaded({name: entry}, **changes)
        return str(caught.value)

    return message


# What is accepted


def test_load__an_entry_is_completed(loaded):
    entry = loaded({"mine": ENTRY}).own_kernels["mine"]
    assert entry.label == "mine"
    assert entry.inputs == {"x": ("n", "n")}
    assert entry.space == ("n", "n")
    kernel = own_kernel("mine", entry)
    assert isinstance(kernel, OwnKernel)
    assert kernel.grid(100) == (4, 4)


@pytest.mark.parametrize(
    ("key", "value", "held"),
    [
        ("block", ["32", 8.0], (32, 8)),
        ("block", [256], (256,)),
        ("multiple", "64", 64),
        ("registers", "1e2", 100),
        ("tolerance", "1e-3", 1e-3),
        ("label", "a|b <i>", "a|b <i>"),
        ("inputs", {"x": ["n * n"]}, {"x": ("n*n",)}),
        ("inputs", {"x": ["4*n", 1]}, {"x": ("4*n", "1")}),
    ],
)
def test_load__what_means_the_same_loads_the_same(loaded, key, value, held):
    assert getattr(loaded({"mine": ENTRY | {key: value}}).own_kernels["mine"], key) == held


def test_load__shapes_follow_the_specification(loaded):
    entry = ENTRY | {"kernel": "two_inputs", "specification": "of_two", "inputs": {"y": ["n"]}}
    kernel = own_kernel("mine", loaded({"mine": entry}).own_kernels["mine"])
    assert list(kernel.inputs) == ["x", "y"]
    assert (kernel.shape("x", 7), kernel.shape("y", 7)) == ((7, 7), (7,))


def test_load__index_space_of_other_shapes(loaded):
    entry = ENTRY | {"space": ["n*n"], "tile": [1024], "block": [256]}
    kernel = own_kernel("mine", loaded({"mine": entry}).own_kernels["mine"])
    assert kernel.grid(128) == (16,)
    deep = ENTRY | {"space": ["n", "2*n", 4], "tile": [32, 8, 3]}
    kernel = own_kernel("mine", loaded({"mine": deep}).own_kernels["mine"])
    assert kernel.grid(64) == (2, 16, 2)
    # An axis that does not grow with n is cut in the same way at every size.
    assert not kernel.cuts(64)
    assert kernel.cuts(66)


@pytest.mark.parametrize(
    "options", [{"step": 1, "wide": 2}, {"step": 1, "wide": False}], ids=["numbers", "false"]
)
def test_load__options_fit_the_kernel(loaded, options):
    entry = ENTRY | {"kernel": "needs_step", "options": options}
    assert loaded({"mine": entry}).own_kernels["mine"].options == options
    assert loaded({"mine": ENTRY | {"kernel": "takes_any", "options": {"any": [1, 2]}}})


@pytest.mark.parametrize(
    ("given", "held"),
    [("1e-3", 1e-3), ("-2.5E2", -250.0), ("e3", "e3"), ("1e", "1e"), ("12", "12"), ("inf", "inf")],
)
def test_load__an_option_that_yaml_takes_for_text_is_a_number(loaded, given, held):
    entry = ENTRY | {"kernel": "takes_any", "options": {"f": given}}
    assert loaded({"mine": entry}).own_kernels["mine"].options == {"f": held}


@pytest.mark.parametrize("own", [None, {}, {"mine": False}, {"mine": "false"}])
def test_load__none_may_be_there(loaded, own):
    assert loaded(own).own_kernels == {}


def test_load__the_section_may_be_left_out():
    given = yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8"))
    del given["own_kernels"]
    assert load(given).own_kernels == {}


def test_load__order_is_that_of_the_configuration(loaded):
    assert list(loaded({"b": ENTRY, "a": ENTRY}).own_kernels) == ["b", "a"]


# What is refused


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flie": "x"}, "own_kernels.mine.flie: unknown key; allowed: file, kernel, "),
        ({"flie": "x"}, "did you mean 'file'?"),
        ({"file": 3}, "own_kernels.mine.file: given 3; must be text"),
        ({"file": "other.py"}, "own_kernels.mine.file: given 'other.py'; cannot be read (No such"),
        ({"file": "mine.txt"}, "its name must end in .py"),
        ({"kernel": "plian"}, "own_kernels.mine.kernel: given 'plian'; mine.py defines no such"),
        ({"kernel": "plian"}, "did you mean 'plain'?"),
        ({"specification": "of_z"}, "own_kernels.mine.specification: given 'of_z'; mine.py"),
        ({"specification": "of_nothing"}, "line 11 of mine.py defines of_nothing(); its param"),
        ({"specification": "of_any"}, "defines of_any(*args); its parameters without a default"),
        ({"specification": "of_two"}, "plain(blk, x, out, n); it must take 5 arguments by posit"),
        ({"specification": "of_two"}, "(blk, x, y, output, n), and options by name after them"),
        ({"specification": "plain"}, "own_kernels.mine.specification: given 'plain'; line 1 of"),
        ({"specification": "two_inputs"}, "which looks like a kernel: its first argument is blk"),
        ({"kernel": "short"}, "line 5 of mine.py defines short(blk, x, out); it must take 4"),
        ({"kernel": "star"}, "defines star(blk, *args); it must take 4 arguments"),
        ({"options": {"pitch": 3}}, "own_kernels.mine.options.pitch: unknown option; allowed: no"),
        ({"kernel": "needs_step"}, "own_kernels.mine.options.step: is missing; needs_step(blk, "),
        ({"kernel": "needs_step"}, "own_kernels.mine.options.wide: is missing; "),
        ({"kernel": "takes_any", "options": {"n": 1}}, "own_kernels.mine.options.n: unknown opt"),
        ({"inputs": {"y": ["n"]}}, "own_kernels.mine.inputs.y: unknown input; allowed: x"),
        ({"inputs": {"x": ["m"]}}, "own_kernels.mine.inputs.x[0]: given 'm'; must be a whole n"),
        ({"inputs": {"x": [0]}}, "own_kernels.mine.inputs.x[0]: given 0; must be a whole number"),
        ({"inputs": {"x": ["n*"]}}, "must be a whole number, n, or a product of these such as"),
        ({"inputs": {"x": ["n*n", "n"]}}, "own_kernels.mine.inputs.x: given ['n*n', 'n']; has 2"),
        ({"block": [64, 32]}, "own_kernels.mine.block: given [64, 32]; 2048 threads; a block has"),
        ({"block": []}, "own_kernels.mine.block: given []; must have one, two or three entries"),
        ({"block": [1, 1, 1, 1]}, "own_kernels.mine.block: given [1, 1, 1, 1]; must have one, t"),
        ({"block": [0]}, "own_kernels.mine.block[0]: given 0; must be at least 1"),
        ({"block": 256}, "own_kernels.mine.block: given 256; must be a list"),
        ({"tile": [32]}, "own_kernels.mine.tile: given [32]; must have one entry for each of the"),
        ({"tile": [32, 48]}, "own_kernels.mine.tile: given [32, 48]; does not divide the index"),
        ({"multiple": 0}, "own_kernels.mine.multiple: given 0; must be at least 1"),
        ({"multiple": 512}, "own_kernels.mine.multiple: given 512; of counting.sizes the kernel"),
        ({"registers": 256}, "own_kernels.mine.registers: given 256; must be at most 255"),
        ({"tolerance": -1}, "own_kernels.mine.tolerance: given -1; must be greater than 0"),
        ({"tolerance": 1e300}, "own_kernels.mine.tolerance: given 1e+300; is far beyond any"),
        ({"tolerance": 1}, "own_kernels.mine.tolerance: given 1; must be less than 1"),
        ({"block": [1, 1, 1024]}, "own_kernels.mine.block: given [1, 1, 1024]; 1024 threads alo"),
        ({"block": [1, 1, 65]}, "along z; CUDA allows at most 64 there"),
        ({"space": ["9" * 5000, "n"]}, "a number has at most 12 digits"),
        ({"space": [16**5000, "n"]}, "given a number of thousands of digits; must be a whole nu"),
        ({"space": [-1, "n"]}, "own_kernels.mine.space[0]: given -1; must be a whole number, n"),
        ({"file": ""}, "own_kernels.mine.file: given ''; must not be empty"),
        ({"inputs": {"x": []}}, "own_kernels.mine.inputs.x: given []; must hold at least 1 ent"),
        ({"registers": 10**400}, "own_kernels.mine.registers: given 10"),
    ],
)
def test_load__says_what_is_wrong_and_what_is_allowed(message, change, said):
    text = message(ENTRY | change)
    assert said in text
    assert "Traceback" not in text


def test_load__lists_every_key_that_must_be_given(message):
    said = message({})
    for name, field in OwnEntry.model_fields.items():
        assert (f"own_kernels.mine.{name}: is missing" in said) == field.is_required()


@pytest.mark.parametrize("entry", [True, 3, [1], None])
def test_load__an_entry_is_a_group(message, entry):
    assert "own_kernels.mine: given" in message(entry)


@pytest.mark.parametrize("name", ["Mine", "my kernel", "a-b", "../up", "", 3])
def test_load__a_name_is_one_for_files_and_stores(message, name):
    path = f"own_kernels.{name}" if str(name).isalnum() else f"own_kernels[{name!r}]"
    assert f"{path}: a kernel's name is made of" in message(ENTRY, name)


def test_load__a_name_of_the_ladder_is_taken(message):
    said = message(ENTRY, "k01_naive")
    assert "own_kernels.k01_naive: is the name of a kernel of the ladder; choose another" in said


def test_load__mistakes_of_several_kernels_are_one_message(loaded):
    with pytest.raises(ConfigError) as caught:
        loaded({"a": ENTRY | {"block": 1}, "b": ENTRY | {"kernel": "x"}, "c": ENTRY})
    assert str(caught.value).startswith("configuration: 2 problems")


def test_load__sizes_to_extrapolate_to_lie_on_the_steps_of_the_kernel(message):
    said = message(ENTRY, extrapolation={"sizes": [4096, 4100]})
    assert "extrapolation.sizes: given 4100; must be multiples of 128" in said
    assert "own_kernels.mine" in said


def test_readme__names_every_key_of_an_own_kernel():
    page = readme(KERNELS)
    for name in OwnEntry.model_fields:
        assert f"| `own_kernels.<id>.{name}` |" in page
