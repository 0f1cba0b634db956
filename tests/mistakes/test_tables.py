"""Every wrong input: one clear message that says where and what to do, and nothing written.

The end of the run prints how many were tried and how many were right.
"""

import pytest
import yaml

from pipeline.config.load import load
from pipeline.config.yaml_files import require_clean
from pipeline.decode.model_sheet import load_models
from pipeline.decode.plan_sheet import load_plans
from pipeline.errors import PaperGpuError
from pipeline.hardware.sheet import CAPABILITIES_FILE, load_sheets
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.measured.kernels import sgemm_rates
from pipeline.user_file import load as load_functions
from tests.mistakes import config_rows, kernel_rows, measured_rows, sheet_rows
from tests.mistakes.row import CHECKOUT

LONGEST = 6000
ENTRY = {
    "file": "mine.py",
    "kernel": "naive",
    "specification": "transposed",
    "block": [32, 8],
    "tile": [32, 32],
}
KERNEL = OwnKernel(
    "mine",
    "mine.py",
    "naive",
    "transposed",
    {"x": ("n", "n")},
    {},
    (32, 8),
    ("n", "n"),
    (32, 32),
    1,
    1e-4,
)


def each(rows):
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)


@pytest.fixture
def refused(tmp_path, record_property):
    """Read a file with a mistake in it; holds what is said against what must be."""
    record_property("table", "wrong inputs")

    def check(row, name, sound, read):
        path = tmp_path / (row.file or name)
        row.write(path, sound)
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(PaperGpuError) as caught:
            read(path)
        message = str(caught.value)
        assert [part for part in row.said if part not in message] == [], message
        assert any(file in message for file in ("config/config.yaml", row.file or name))
        assert len(message) < LONGEST
        assert all(line.isprintable() for line in message.split("\n")), repr(message)
        assert sorted(tmp_path.rglob("*")) == before

    return check


def read_config(path):
    require_clean([path])
    load(yaml.safe_load(path.read_text(encoding="utf-8")))


@each(config_rows.ROWS)
def test_configuration(refused, row):
    refused(row, "config.yaml", config_rows.SOUND, read_config)


@each(sheet_rows.GPU_ROWS)
def test_gpu_sheet(refused, row):
    def read(path):
        load_sheets(path.parent, capabilities=CHECKOUT / "data" / CAPABILITIES_FILE)

    refused(row, sheet_rows.GPU.name, sheet_rows.GPU.read_text(encoding="utf-8"), read)


@each(sheet_rows.MODEL_ROWS)
def test_model_sheet(refused, row):
    sound = sheet_rows.MODEL.read_text(encoding="utf-8")
    refused(row, sheet_rows.MODEL.name, sound, lambda path: load_models(path.parent))


@each(sheet_rows.PLAN_ROWS)
def test_fusion_plan(refused, row):
    sound = sheet_rows.PLAN.read_text(encoding="utf-8")
    refused(row, sheet_rows.PLAN.name, sound, lambda path: load_plans(path.parent))


@each(measured_rows.ROWS)
def test_measurements(refused, row):
    refused(row, "sgemm_ladder.csv", measured_rows.SOUND, sgemm_rates)


@each(kernel_rows.READ_ROWS)
def test_own_kernel__before_it_runs(refused, tmp_path, row):
    given = yaml.safe_load(config_rows.SOUND) | {"own_kernels": {"mine": ENTRY}}
    (tmp_path / "row.py").touch()
    refused(row, "mine.py", kernel_rows.SOUND, lambda path: load(given, checkout=tmp_path))


@each(kernel_rows.RUN_ROWS)
def test_own_kernel__when_it_runs(refused, tmp_path, row):
    refused(row, "mine.py", kernel_rows.SOUND, lambda path: load_functions(KERNEL, tmp_path))


def laughing():
    value = [1] * 9
    for _ in range(10):
        value = [value] * 9
    return value


def endless():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize("value", [laughing(), endless(), {"x": endless()}])
def test_configuration__of_a_command_line_may_be_without_end(record_property, value):
    record_property("table", "wrong inputs")
    given = yaml.safe_load(config_rows.SOUND)
    given["counting"]["seed"] = value
    with pytest.raises(PaperGpuError, match="does a value hold itself"):
        load(given)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "\ufeff"),
        (config_rows.SEED, "  seed: 1_000  #"),
        (config_rows.LABEL, '    label: "<script>alert(1)</script> & Co."  #'),
        ("\n", "\r\n"),
        (config_rows.HAZARDS, "hazards: &hazards\n"),
    ],
)
def test_configuration__what_looks_odd_and_is_right(tmp_path, old, new):
    (tmp_path / "config.yaml").write_text(
        config_rows.SOUND.replace(old, new, 1), encoding="utf-8", newline=""
    )
    read_config(tmp_path / "config.yaml")
