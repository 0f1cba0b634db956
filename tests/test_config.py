"""The configuration: what is accepted, and what is said about everything else."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from pipeline.config.limits import most_shared
from pipeline.config.load import load
from pipeline.config.models import Config
from pipeline.config.readme import readme
from pipeline.config.section import Section
from pipeline.config.yaml_files import require_clean
from pipeline.errors import ConfigError
from pipeline.kernels.registry import KERNELS

CHECKOUT = Path(__file__).resolve().parent.parent
FILE = CHECKOUT / "config" / "config.yaml"
SHEETS = sorted(path.stem for path in (CHECKOUT / "data/gpus").glob("*.yaml"))
SEVEN = [128, 256, 512, 640, 768, 1024, 1280]
LEFT_OUT = dict.fromkeys(KERNELS, False)


@pytest.fixture(scope="module")
def text():
    return FILE.read_text(encoding="utf-8")


@pytest.fixture
def given(text):
    """A fresh copy of the configuration as it is delivered."""
    return yaml.safe_load(text)


def changed(given, path, value):
    """Copy of ``given`` with one value replaced, by its key path."""
    result = copy.deepcopy(given)
    *groups, last = path.split(".")
    inner = result
    for name in groups:
        inner = inner[name]
    inner[last] = value
    return result


def message(given):
    with pytest.raises(ConfigError) as caught:
        load(given, sheets=SHEETS)
    return str(caught.value)


# What is accepted


def test_load__the_delivered_file_is_right(given):
    config = load(given)
    assert list(config.kernels) == list(given["kernels"])
    assert config.kernels["k05_blocktile_2d"]["vec_b"] is False
    assert list(config.kernels) == list(KERNELS)
    assert sorted(config.gpus) == SHEETS
    assert config.counting.sizes == (128, 256, 384, 512, 640, 768, 1024, 1280)


@pytest.mark.parametrize(
    ("path", "value", "same"),
    [
        ("counting.seed", "7", 7),
        ("counting.seed", "1e3", 1000),
        ("counting.seed", 7.0, 7),
        ("counting.sizes", ["1280", 1024, "768", 640.0, "512", 256, 128], SEVEN),
        ("counting.sizes", [1280, 1024, 768, 640, 512, 256, 128], SEVEN),
        ("kernels.k01_naive", None, {}),
        ("kernels.k03_smem", {}, {"bs": 32, "drop_sync": "none"}),
        ("kernels.k05_blocktile_2d", {"vec_b": "True", "bk": "8"}, {"vec_b": True}),
    ],
)
def test_load__what_means_the_same_loads_the_same(given, path, value, same):
    # A command line gives text, and YAML reads 1e3 as text.
    assert load(changed(given, path, value)) == load(changed(given, path, same))


def test_load__an_older_architecture_without_the_kernel_it_lacks(given):
    given = changed(given, "compiled.architectures", ["sm_75"])
    config = load(changed(given, "kernels.k13_tensor_core", False))
    assert config.compiled.architectures == ("sm_75",)


@pytest.mark.parametrize("value", [False, "false", "False"])
def test_load__false_leaves_a_kernel_out(given, value):
    config = load(changed(given, "kernels.k04_blocktile_1d", value))
    assert list(config.kernels) == [n for n in given["kernels"] if n != "k04_blocktile_1d"]


def test_load__kernels_stand_in_the_order_of_the_ladder(given):
    in_order = list(given["kernels"])
    given["kernels"] = dict(reversed(given["kernels"].items()))
    assert list(load(given).kernels) == in_order == [n for n in KERNELS if n in in_order]


def test_load__gpus_keep_the_order_in_which_they_are_shown(given):
    given["gpus"] = ["h100_sxm", "rtx_a6000"]
    given["lecture10"]["shown_gpus"] = given["lecture11"]["shown_gpus"] = ["h100_sxm"]
    given["decode"]["waves"] = {"blocks_512": False}
    assert load(given).gpus == ("h100_sxm", "rtx_a6000")


def test_load__settings_cannot_be_changed_afterwards(given):
    with pytest.raises(ValueError, match="frozen"):
        load(given).counting.seed = 3


# What is refused: the path, the value, what was allowed, the nearest name


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        # unknown names
        ("kernals", {}, "kernals: unknown key; allowed: language, .*; did you mean 'kernels'?"),
        ("counting.sedd", 1, "counting.sedd: unknown key; .*; did you mean 'seed'?"),
        ("gpus", ["rtx_a6000", "h100"], r"gpus[1]: given 'h100'; .*; did you mean 'h100_sxm'?"),
        ("gpus", ["../secret"], "gpus[0]: given '../secret'; data/gpus has no sheet"),
        ("kernels.k3_smem", {}, "kernels.k3_smem: unknown kernel; .*; did you mean 'k03_smem'?"),
        ("kernels.k01_naive", {"bz": 32}, "kernels.k01_naive.bz: unknown option; allowed: bs"),
        ("kernels.k03_smem", {"drop_sync": "frist"}, "must be one of 'none', 'first' or 'second'"),
        ("lecture10.gpu", "a6000", "lecture10.gpu: given 'a6000'; .* did you mean 'rtx_a6000'?"),
        (
            "compiled.architectures",
            ["sm_80", "sm_75"],
            r"compiled.architectures[1]: given sm_75, which lacks instructions of k13_tensor_core",
        ),
        (
            "lecture10.shown_gpus",
            ["rtx_a6000", "h100"],
            "lecture10.shown_gpus[1]: given 'h100'; must be one of gpus; .* mean 'h100_sxm'?",
        ),
        ("lecture10.shown_gpus", [], "lecture10.shown_gpus: given []; must hold at least 1 entry"),
        # wrong types
        (
            "counting.seed",
            True,
            "counting.seed: given true .*must be a whole number",
        ),
        ("counting.seed", None, "counting.seed: given None; must be a whole number"),
        ("counting.seed", "many", "counting.seed: given 'many'; must be a whole number"),
        ("counting.seed", 0.5, "counting.seed: given 0.5; must be a whole number"),
        ("counting.seed", float("nan"), "counting.seed: given nan; must be a whole number"),
        ("counting.seed", float("inf"), "counting.seed: given inf; must be a whole number"),
        ("counting.sizes", 128, "counting.sizes: given 128; must be a list"),
        ("counting.sizes", "128", "counting.sizes: given '128'; must be a list"),
        ("counting.sizes", [128, [256]], r"counting.sizes[1]: given [256]; must be a whole number"),
        ("gpus", "h100_sxm", "gpus: given 'h100_sxm'; must be a list"),
        ("gpus", [1], r"gpus[0]: given 1; must be text"),
        ("kernels", ["k01_naive"], "kernels: given ['k01_naive']; must be a group"),
        ("kernels", None, "kernels: given None; must be a group"),
        ("kernels.k01_naive", 32, "kernels.k01_naive: given 32; must be a group of options"),
        (
            "kernels.k01_naive",
            {"bs": True},
            "kernels.k01_naive.bs: given true .*must be a whole",
        ),
        ("kernels.k05_blocktile_2d", {"vec_b": 3}, "vec_b: given 3; must be true or false"),
        ("counting", [1], r"counting: given [1]; must be a group of keys"),
        ("counting.wavefronts", "textbook", "given 'textbook'; must be one of 'lecture' or 'hard"),
        ("lecture10.gpu", 6000, "lecture10.gpu: given 6000; must be text"),
        # out of range
        ("counting.seed", -1, "counting.seed: given -1; must be at least 0"),
        ("counting.seed", 2**32, "counting.seed: given 4294967296; must be at most 4294967295"),
        ("counting.sizes", [], "counting.sizes: given []; must hold at least 1 entry"),
        ("counting.sizes", [0], r"counting.sizes[0]: given 0; must be a positive multiple of 32"),
        ("counting.sizes", [100], r"counting.sizes[0]: given 100; must be a positive multiple"),
        (
            "counting.sizes",
            [4096],
            r"counting.sizes[0]: given 4096; must be at most 2048: .* eight",
        ),
        ("counting.sizes", [128, 128], "must hold each entry once, but 128 stands there more"),
        ("gpus", ["h100_sxm", "h100_sxm"], "must hold each entry once, but h100_sxm stands"),
        ("gpus", [], "gpus: given []; must hold at least 1 entry"),
        ("counting.seed", 10**400, "counting.seed: given 10.*; is far beyond any number"),
        ("counting.seed", "9" * 400, "counting.seed: given '9.*; is far beyond any number"),
        ("counting.sizes", [16**5000], "given a number of thousands of digits; is far beyond"),
        ("counting.sizes", [10**400], "counting.sizes[0]: given 10"),
        ("kernels.k01_naive", {"bs": 10**400}, "kernels.k01_naive.bs: given 10"),
        ("extrapolation.sizes", [10**6], "must be between 1 and 65536: .* float64"),
        ("tile_order.sizes", [4096, 70000], "tile_order.sizes[1]: given 70000; must be at most 65"),
        ("tile_order.tile_m", 16, "tile_order.tile_m: given 16; must be at least 32"),
        ("tile_order.blocks_per_sm", 0, "tile_order.blocks_per_sm: given 0; must be at least 1"),
        ("kernels.k01_naive", {"bs": 0}, "kernels.k01_naive: k01_naive with .*bs"),
        ("kernels", LEFT_OUT, "kernels: no kernel takes part"),
        ("kernels", {}, "kernels: no kernel takes part"),
        # settings that contradict each other
        ("counting.held_out", 128, "counting.held_out: given 128; must differ from counting.per_f"),
        ("counting.held_out", 896, "counting.held_out: given 896; must be one of counting.sizes"),
        ("counting.per_fma_base", 32, "counting.per_fma_base: given 32; must be one of counting.s"),
        ("counting.sizes", [128, 256, 640], "polynomial and its check; add 2 more multiples of 32"),
        (
            "counting.sizes",
            [128, 256, 384, 640, 64],
            "add 1 more multiple of 128, or leave out with",
        ),
        ("extrapolation.sizes", [1000, 4096], "given 1000; must be multiples of 128, .*: 1024"),
        ("hazards.sizes", [144], r"hazards.sizes[0]: given 144; must be a positive multiple"),
        ("lecture10.small_n", 160, "lecture10.small_n: given 160; must be one of counting.sizes"),
        ("lecture10.small_n", 512, "lecture10.small_n: given 512; must be one of hazards.sizes"),
        ("lecture10.second_n", 128, "lecture10.second_n: given 128; must differ"),
        ("lecture10.large_n", 640, "lecture10.large_n: given 640; must be one of extrapolation.s"),
        ("kernels.k01_naive", {"bs": 24}, "kernels.k01_naive: its tile of 24 x 24 does not divide"),
        (
            "kernels.k08_banks_padded",
            {"pad": 1_000_000_000},
            "kernels.k08_banks_padded: with these options a block takes 32000008192 bytes of "
            "shared memory; at most 232448 are allowed on any GPU",
        ),
        ("kernels.k03_smem", {"bs": 24}, "k03_smem takes only multiples of 24"),
    ],
)
def test_load__refuses_with_path_value_and_what_was_allowed(given, path, value, said):
    pattern = ".*".join(re.escape(part) for part in said.split(".*"))
    assert re.search(pattern, message(changed(given, path, value)))


def test_load__a_missing_key_is_named(given):
    del given["hazards"], given["counting"]["seed"]
    said = message(given)
    assert "hazards: is missing" in said
    assert "counting.seed: is missing" in said


def test_load__reports_everything_at_once(given):
    given["gpus"] = ["h100", "rtx_a6000"]
    given["counting"] |= {"seed": "x", "sizez": 1}
    given["kernels"] |= {"k03_smem": {"bz": 1, "drop_sync": "both"}, "k9": {}}
    given["lecture10"] |= {"large_n": 32, "shown_gpus": ["rtx_a6000", "h200"]}
    lines = message(given).splitlines()
    paths = [line.split(":")[0].strip() for line in lines[1:-1]]
    assert sorted(paths) == [
        "counting.seed",
        "counting.sizez",
        "gpus[0]",
        "kernels.k03_smem.bz",
        "kernels.k03_smem.drop_sync",
        "kernels.k9",
        "lecture10.large_n",
        "lecture10.large_n",
    ]
    assert lines[0].startswith("configuration: 8 problems in config/config.yaml")


@pytest.mark.parametrize("held", [None, "", "[1]", "x: {}", "x: {smem_per_block_max: 3}", "x: ["])
def test_most_shared__a_broken_table_is_left_to_those_who_read_the_sheets(tmp_path, held):
    if held is not None:
        (tmp_path / "table.yaml").write_text(held)
    assert most_shared(tmp_path / "table.yaml") is None


def test_load__a_bad_entry_is_reported_once(given):
    assert "1 problem in" in message(changed(given, "hazards.sizes", [100]))


def test_load__a_gpu_without_a_sheet_is_not_looked_for_elsewhere(given):
    given["gpus"] = ["rtx_a6000", "h100"]
    given["lecture10"] |= {"gpu": "h100_sxm", "shown_gpus": ["h100_sxm"]}
    said = message(given)
    assert "1 problem in" in said
    assert "gpus[1]: given 'h100'" in said


@pytest.mark.parametrize(
    ("sizes", "lacking"),
    [([128, 256], "3 more multiples of 32"), ([128, 256, 384, 640], "1 more multiple of 32")],
)
def test_load__too_few_sizes_are_one_problem_that_says_how_many(given, sizes, lacking):
    given["counting"] |= {"sizes": sizes, "held_out": 128, "per_fma_base": 256}
    given["lecture10"] |= {"small_n": 128, "second_n": 256}
    said = message(given)
    assert f"at least 5 sizes are needed, for the polynomial and its check; add {lacking}" in said
    assert "1 problem in" in said


def test_load__one_mistake_for_several_kernels_is_one_problem(given):
    given["extrapolation"]["sizes"] = [4096, 4000]
    given["kernels"] = {"k05_blocktile_2d": {}, "k06_vectorized": {}}
    said = message(given)
    assert said.startswith("configuration: 1 problem in")
    assert "k05_blocktile_2d, k06_vectorized, own_kernels.transpose_naive, " in said


def test_load__long_values_are_cut(given):
    said = message(changed(given, "counting.seed", "x" * 10_000))
    assert len(said) < 400


def test_load__keys_that_are_no_text_are_reported(given):
    assert "[3]: unknown key" in message(given | {3: 4})
    assert "kernels[3]: unknown kernel" in message(changed(given, "kernels", {3: {}}))


# Files


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"counting:\n  seed: 1\n  seed: 2\n", "line 3: the key 'seed' stands twice"),
        (b"gpus: [a\nseed: 1\n", "line 2"),
        (b"gpus: \xff\n", "is not UTF-8 text"),
        (b"", "does not hold a mapping"),
        (b"- a\n", "does not hold a mapping"),
    ],
)
def test_require_clean__names_file_and_line(tmp_path, held, said):
    path = tmp_path / "my.yaml"
    path.write_bytes(held)
    with pytest.raises(ConfigError, match=rf"my\.yaml: {re.escape(said)}"):
        require_clean([FILE, path])


def test_require_clean__a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read"):
        require_clean([tmp_path / "none.yaml"])


def test_require_clean__lists_all_files(tmp_path):
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text("- 1\n")
    with pytest.raises(ConfigError, match=r"(?s)one\.yaml.*two\.yaml"):
        require_clean(sorted(tmp_path.iterdir()))


# Manual and file agree with the models


def leaves(section, path=""):
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from leaves(field.annotation, f"{path}{name}.")
        else:
            yield f"{path}{name}", field


def test_models__every_setting_has_meaning_unit_and_range():
    for path, field in leaves(Config):
        assert field.description.endswith("."), path
        assert all(field.json_schema_extra[key] for key in ("unit", "allowed")), path


def test_file__every_key_has_a_comment_and_every_section_too(text):
    lines, explained = text.splitlines(), set()
    for position, line in enumerate(lines):
        key = re.match(r"\s*(\w+):", line)
        if key and key[1] not in explained:
            assert "#" in line or lines[position - 1].lstrip().startswith("#"), line
            explained.add(key[1])


def test_readme__is_up_to_date():
    said = "config/README.md is out of date; run: python -m pipeline.config"
    assert (CHECKOUT / "config/README.md").read_text(encoding="utf-8") == readme(KERNELS), said


def test_readme__names_every_setting_and_option():
    page = readme(KERNELS)
    for path, _ in leaves(Config):
        assert f"`{path}`" in page
    for name, kernel in KERNELS.items():
        for option in kernel.option_names:
            assert f"`kernels.{name}.{option}`" in page
