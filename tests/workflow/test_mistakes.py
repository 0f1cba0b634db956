"""What a person sees who made a mistake: one clear message, no traceback, nothing built."""

import pytest

from tests.mistakes.row import DEEP, LAUGHS, TOO_LARGE

pytestmark = pytest.mark.workflow


def message(scratch, *arguments):
    """What Snakemake shows before it would do anything; it must refuse."""
    code, shown = scratch.snakemake(*arguments)
    assert code == 1, shown
    assert "Traceback" not in shown
    assert 'File "' not in shown
    assert "Job stats" not in shown
    assert not (scratch.folder / "results").exists()
    return shown


@pytest.mark.parametrize("arguments", [["--dry-run"], ["all"], ["lecture10"], ["--lint"]])
def test_config_file__mistakes_are_listed_whatever_is_asked_for(fresh, arguments):
    with fresh.configured(kernals={}, counting={"seed": "many"}):
        shown = message(fresh, *arguments)
    assert "configuration: 2 problems in config/config.yaml" in shown
    assert "kernals: unknown key; allowed: language, gpus, kernels, " in shown
    assert "did you mean 'kernels'?" in shown
    assert "counting.seed: given 'many'; must be a whole number" in shown


def test_config_option__is_checked_too(fresh):
    shown = message(fresh, "all", "--config", "lecture10={gpu: h100, large_n: 1000}")
    assert "lecture10.gpu: given 'h100'; must be one of gpus; allowed: rtx_a6000, h100" in shown
    assert "lecture10.large_n: given 1000; must be one of extrapolation.sizes: 1024, 4096" in shown


def test_config_option__changes_what_it_names_and_nothing_else(built):
    planned = built.planned("--config", "lecture10={large_n: 1024}", "hazards={sizes: [64, 32]}")
    assert "hazards" in planned
    assert "artifact lecture10 bottlenecks" in planned
    assert not planned & {"gpus", "counts", "predictions"}


def test_configfile_option__is_checked_too(fresh):
    overlay = fresh.folder / "my.yaml"
    overlay.write_text("counting:\n  sizes: [64]\ncounting:\n  sizes: [100]\n")
    shown = message(fresh, "all", "--configfile", "my.yaml")
    assert "my.yaml: line 3: the key 'counting' stands twice" in shown
    overlay.write_text("counting:\n  sizes: [32, 64, 100]\n")
    shown = message(fresh, "all", "--configfile", "my.yaml")
    assert "counting.sizes[2]: given 100; must be a positive multiple of 32" in shown


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"gpus: [rtx_a6000\nkernels: {}\n", "config.yaml: line 2"),
        (b"gpus: \xff\n", "config.yaml: is not UTF-8 text"),
        (b"", "config.yaml: does not hold a mapping"),
        (DEEP.encode(), "config.yaml: line 1: more than 40 groups"),
        (LAUGHS.encode(), "config.yaml: line 6: stands for more than 100000 values"),
        (bytes(TOO_LARGE // 50), "config.yaml: is 4.0 MB large; at most 1 MB"),
    ],
)
def test_config_file__that_is_no_yaml_is_named(fresh, record_property, held, said):
    record_property("table", "wrong inputs, through Snakemake")
    (fresh.folder / "config/config.yaml").write_bytes(held)
    assert said in message(fresh, "all")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("own_kernels={../x: {file: a.py}}", "own_kernels['../x']: a kernel's name is made of"),
        ("counting={seed: no}", "counting.seed: given 'no'; must be a whole number"),
        ("counting=7", "counting: given 7; must be a group of keys with values"),
        ("gpus=[$(touch results)]", "gpus[0]: given '$(touch results)'; data/gpus has no sheet"),
    ],
)
def test_config_option__that_is_wrong_is_named(fresh, record_property, option, said):
    record_property("table", "wrong inputs, through Snakemake")
    assert said in message(fresh, "all", "--config", option)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("", "Config file must be given as JSON or YAML with keys at top level"),
        ("counting: {seed: 0200}\n", "my.yaml: line 1: 0200 is read as a number of base 8"),
        ("counting: {seed: 2024-01-01}\n", "my.yaml: line 1: is read as a date"),
    ],
)
def test_configfile_option__that_is_wrong_is_named(fresh, record_property, held, said):
    record_property("table", "wrong inputs, through Snakemake")
    (fresh.folder / "my.yaml").write_text(held)
    assert said in message(fresh, "all", "--configfile", "my.yaml")


def test_sheet__mistake_is_found_before_anything_runs(fresh):
    with fresh.edited("data/gpus/h100_sxm.yaml", "sm_count:", "sm_cuont:"):
        shown = message(fresh, "all")
    assert "h100_sxm.yaml" in shown
    assert "sm_cuont" in shown
    assert "sm_count" in shown


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("models/llama_3_2_1b", "kv_heads: {value: 8", "kv_heads: {value: 7", "must divide heads"),
        ("fusion_plans/kernels7", ", rope", "", "layer: rope is missing; every operation must"),
        ("gpus/h100_sxm", "launch_stream:", "launch_steam:", "did you mean launch_stream?"),
    ],
)
def test_decode__mistakes_in_its_sheets_are_found_before_anything_runs(fresh, name, old, new, said):
    with fresh.edited(f"data/{name}.yaml", old, new):
        shown = message(fresh, "lecture11")
    assert f"data/{name}.yaml: " in shown
    assert said in shown


def test_decode__a_gpu_without_launch_costs_cannot_stand_for_others(fresh):
    with fresh.configured(decode={"launch_gpu": "rtx_a6000"}):
        shown = message(fresh, "all")
    assert "decode.launch_gpu: data/gpus/rtx_a6000.yaml has no launch_stream and launch" in shown


def test_sheet__that_no_setting_names_may_be_wrong(fresh):
    (fresh.folder / "data/gpus/t4.yaml").write_text("nonsense")
    code, shown = fresh.snakemake("--dry-run", "all")
    assert code == 0, shown


def test_job__a_mistake_in_a_table_is_one_message_and_the_log_holds_the_rest(fresh):
    with fresh.edited("data/measured/sgemm_ladder.csv", "1986.5", "fast"):
        code, shown = fresh.snakemake("results/measured.zarr")
    assert code == 1
    # Where it happens, and once more at the end.
    (line,) = {line for line in shown.splitlines() if line.startswith("ERROR")}
    assert shown.count(line) == 2
    assert "data/measured/sgemm_ladder.csv, line " in line
    assert "'fast'" in line
    assert "Traceback" not in shown
    log = fresh.text("logs/measured.log")
    assert "Traceback" in log
    assert "'fast'" in log


def test_job__a_bug_shows_its_traceback(fresh):
    with fresh.edited("pipeline/measured/kernels.py", "def sgemm_rates(", "def sgemm_rates_gone("):
        code, shown = fresh.snakemake("results/measured.zarr")
    assert code == 1
    assert "cannot import name 'sgemm_rates'" in shown
