"""GPU sheets: the ones of the repository, and every way to get one wrong."""

from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.hardware.figures import CapabilityEntry, SheetEntry
from pipeline.hardware.sheet import load_sheets
from pipeline.sheets.figures import Figure
from pipeline.vocab.gpus import FIGURES, LAUNCH_FIGURES

DATA = Path(__file__).parents[2] / "data"
LECTURE_GPUS = ["rtx_a6000", "a100_sxm_40gb", "h100_sxm"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copies of two sheets and of the table, to spoil."""
    gpus = tmp_path / "gpus"
    gpus.mkdir()
    for name in ("rtx_a6000", "t4"):
        (gpus / f"{name}.yaml").write_text((DATA / "gpus" / f"{name}.yaml").read_text())
    table = DATA / "compute_capabilities.yaml"
    (tmp_path / table.name).write_text(table.read_text())
    return gpus


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def message(folder: Path, ids: list[str] | None = None) -> str:
    with pytest.raises(DataError) as error:
        load_sheets(folder, ids)
    return str(error.value)


def with_value(path: Path, field: str, part: str, value: object) -> None:
    sheet = yaml.safe_load(path.read_text())
    optional = {"launch_stream": {"value": 2.1e-6, "unit": "s", "source": "my notes, p. 3"}}
    sheet = optional | sheet
    sheet[field][part] = value
    path.write_text(yaml.safe_dump(sheet))


# The sheets of the repository


def test_sheets__all_of_the_repository_validate_and_carry_every_figure() -> None:
    sheets = load_sheets(DATA / "gpus")
    on_disk = {path.stem for path in (DATA / "gpus").iterdir()}
    assert set(sheets) == on_disk
    for sheet in sheets.values():
        assert set(sheet.figures) - set(LAUNCH_FIGURES) == set(FIGURES)


def test_sheets__every_gpu_of_the_public_interface_has_one() -> None:
    named = (
        "rtx_a6000 a100_sxm_40gb h100_sxm b200 v100_sxm2 t4 rtx_3090 rtx_4090 l40s "
        "a100_sxm_80gb h200_sxm rtx_5090"
    )
    assert set(named.split()) <= set(load_sheets(DATA / "gpus"))


def test_sheets__every_source_names_a_document_and_a_place_in_it() -> None:
    places = ("table", "Appendix", "section", "specifications", "column", "p. ", "cudaOcc", "Mem")
    for sheet in load_sheets(DATA / "gpus").values():
        for name, figure in sheet.figures.items():
            place = any(word in figure.source for word in (*places, "'", ":"))
            assert place, (sheet.id, name, figure.source)
            assert "://" not in figure.source


def test_sheets__lecture_gpus_keep_the_figures_of_the_seed() -> None:
    names = ("sm_count", "fp32_lanes_per_sm", "clock_hz", "dram_bandwidth")
    figures = {
        key: tuple(sheet.figures[name].value for name in names)
        for key, sheet in load_sheets(DATA / "gpus", LECTURE_GPUS).items()
    }
    assert figures == {
        "rtx_a6000": (84, 128, 1.80e9, 768e9),
        "a100_sxm_40gb": (108, 64, 1.41e9, 1.555e12),
        "h100_sxm": (132, 128, 1.98e9, 3.35e12),
    }


def test_sheets__rates_of_an_sm_are_those_of_the_seed() -> None:
    for sheet in load_sheets(DATA / "gpus").values():
        rates = ("issue_per_clk", "l1_lines_per_clk", "smem_wavefronts_per_clk")
        assert [sheet.figures[name].value for name in rates] == [4, 1, 1]


def test_sheets__units_of_the_models_are_those_of_the_vocabulary() -> None:
    for entry in (CapabilityEntry, SheetEntry):
        for name, field in entry.model_fields.items():
            kinds = [field.annotation, *get_args(field.annotation)]
            for kind in kinds:
                if isinstance(kind, type) and issubclass(kind, Figure):
                    unit = get_args(kind.model_fields["unit"].annotation)
                    assert unit == ((FIGURES | LAUNCH_FIGURES)[name].units,), name


def test_sheets__come_in_the_order_asked_for_and_else_in_alphabetical_order() -> None:
    assert list(load_sheets(DATA / "gpus", LECTURE_GPUS)) == LECTURE_GPUS
    everything = list(load_sheets(DATA / "gpus"))
    assert everything == sorted(everything)


def test_sheets__a_rate_on_the_sheet_goes_before_that_of_the_capability(folder: Path) -> None:
    path = folder / "t4.yaml"
    path.write_text(
        path.read_text() + 'l1_lines_per_clk: {value: 0.5, unit: "1", source: "my notes, p. 3"}\n'
    )
    sheets = load_sheets(folder)
    assert sheets["t4"].figures["l1_lines_per_clk"].value == 0.5
    assert sheets["rtx_a6000"].figures["l1_lines_per_clk"].value == 1


def test_sheets__only_the_sheets_asked_for_are_read(folder: Path) -> None:
    (folder / "broken.yaml").write_text("][")
    assert list(load_sheets(folder, ["t4"])) == ["t4"]
    assert "broken.yaml" in message(folder)


# One wrong value


@pytest.mark.parametrize(
    ("field", "part", "value", "said"),
    [
        ("sm_count", "value", -84, "is -84; it must be greater than 0"),
        ("sm_count", "value", 0, "is 0; it must be greater than 0"),
        ("sm_count", "value", 84.5, "is 84.5, not a whole number"),
        ("sm_count", "value", True, "is true (YAML reads yes and no as truth values)"),
        ("sm_count", "value", None, "is empty; it must be a whole number"),
        ("sm_count", "value", "many", "is the text 'many', not a whole number"),
        ("sm_count", "value", [84], "is [84], not a whole number"),
        ("sm_count", "value", 10**30, "is a number of more than 18 digits; it must be at most"),
        ("sm_count", "value", 10**16, "is 10000000000000000; it must be at most 1e+15"),
        ("sm_count", "value", float("nan"), "is nan, not a whole number"),
        ("clock_hz", "value", float("nan"), "is nan; it must be"),
        ("clock_hz", "value", float("inf"), "is inf; it must be"),
        ("clock_hz", "value", float("-inf"), "is -inf; it must be"),
        ("clock_hz", "value", -1.8e9, "is -1800000000.0; it must be at least 1e+06"),
        ("clock_hz", "value", 1.8, "is 1.8; it must be at least 1e+06; figures are in SI units"),
        ("clock_hz", "value", "1.8e9", "write it without quotes, and a power of ten with point"),
        ("clock_hz", "value", False, "is false (YAML reads yes and no as truth values)"),
        pytest.param("clock_hz", "value", 10**400, "is a number of more than 18 digits", id="huge"),
        ("clock_hz", "unit", "GHz", "is 'GHz'; this figure is given in \"Hz\""),
        ("dram_bandwidth", "unit", "B/s", "is 'B/s'; this figure is given in \"byte/s\""),
        ("launch_stream", "value", 2.1, "is 2.1; it must be less than 1; times are in seconds"),
        ("launch_stream", "unit", "us", "is 'us'; this figure is given in \"s\""),
        ("sm_count", "unit", 1, 'is 1; this figure is given in "1" (with the quotes)'),
        ("l2_bytes", "source", "nvidia.com", "name the document and the page, table or section"),
        ("l2_bytes", "source", "https://nvidia.com/a100", "name the document and the page"),
        ("l2_bytes", "source", "", "name the document and the page"),
        ("l2_bytes", "source", 7, "is the number 7; put it in quotes"),
    ],
)
def test_load_sheets__a_wrong_value_is_named_with_file_and_field(
    folder: Path, field: str, part: str, value: object, said: str
) -> None:
    with_value(folder / "rtx_a6000.yaml", field, part, value)
    text = message(folder)
    assert text.startswith(f"{folder / 'rtx_a6000.yaml'}: {field}.{part}: ")
    assert said in text
    assert "\n" not in text


def test_load_sheets__an_exponent_without_sign_is_explained(folder: Path) -> None:
    spoil(folder / "t4.yaml", "320.0e+9", "3.2e11")
    assert "dram_bandwidth.value: is the text '3.2e11', not a number; write it without" in message(
        folder
    )


def test_load_sheets__a_capability_without_quotes_is_explained(folder: Path) -> None:
    spoil(folder / "rtx_a6000.yaml", '"8.6"', "8.6")
    assert message(folder).endswith(
        'rtx_a6000.yaml: compute_capability: is the number 8.6; put it in quotes, as in "8.6"'
    )


def test_load_sheets__an_unknown_capability_gets_the_nearest(folder: Path) -> None:
    spoil(folder / "rtx_a6000.yaml", '"8.6"', '"8.66"')
    assert "'8.66' is not in the table of compute capabilities; did you mean 8.6?" in message(
        folder
    )


def test_load_sheets__an_unknown_field_gets_the_nearest(folder: Path) -> None:
    spoil(folder / "rtx_a6000.yaml", "clock_hz:", "clock_mhz:")
    text = message(folder)
    assert "2 problems" in text
    assert "clock_mhz: is not a field here; did you mean clock_hz?" in text
    assert "clock_hz: is missing; add it as {value: ..., unit: ..., source:" in text


def test_load_sheets__an_unknown_part_of_a_figure_gets_the_nearest(folder: Path) -> None:
    spoil(folder / "rtx_a6000.yaml", "source:", "sources:")
    text = message(folder)
    assert "sm_count.sources: is not a field here; did you mean source?" in text
    assert "sm_count.source: is missing" in text


def test_load_sheets__a_bare_number_is_no_figure(folder: Path) -> None:
    sheet = yaml.safe_load((folder / "t4.yaml").read_text()) | {"sm_count": 40}
    (folder / "t4.yaml").write_text(yaml.safe_dump(sheet))
    assert "sm_count: is 40; a figure is written {value: ..., unit: ..., source:" in message(folder)


@pytest.mark.parametrize(("name", "said"), [("''", "name: is ''"), ("7", "is the number 7")])
def test_load_sheets__a_name_must_be_text(folder: Path, name: str, said: str) -> None:
    spoil(folder / "t4.yaml", "name: T4", f"name: {name}")
    assert said in message(folder)


def test_load_sheets__a_field_name_must_be_text(folder: Path) -> None:
    spoil(folder / "t4.yaml", "name: T4", "name: T4\n1: 2")
    assert "t4.yaml: 1: a field name must be text" in message(folder)


def test_load_sheets__all_problems_of_all_sheets_are_told_together(folder: Path) -> None:
    with_value(folder / "rtx_a6000.yaml", "sm_count", "value", 0)
    with_value(folder / "rtx_a6000.yaml", "clock_hz", "unit", "MHz")
    with_value(folder / "t4.yaml", "l2_bytes", "source", "web")
    text = message(folder)
    assert text.startswith("3 problems in the GPU data:\n")
    assert len(text.splitlines()) == 4


# The file itself


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty; it must hold lines"),
        ("# nothing\n", "is empty"),
        ("{}", "is empty"),
        ("- 1\n- 2\n", "does not hold a mapping"),
        ("just text\n", "does not hold a mapping"),
        ("name: T4\nsm_count: {value: 40\n", "is not valid YAML: line 3"),
        ("name: T4\n\tsm_count: 1\n", "is not valid YAML: line 2"),
        ("name: T4\nname: T5\n", "line 2: the key 'name' stands twice, first on line 1"),
        ("a: {b: 1, c: 2, b: 3}\n", "line 1: the key 'b' stands twice, first on line 1"),
        ("a: 1\n---\nb: 2\n", "is not valid YAML: line 2"),
        ("a: !!python/name:os.system\n", "is not valid YAML: line 1"),
        ("a: *nowhere\n", "is not valid YAML: line 1"),
        ("? [a]\n: 1\n", "is not valid YAML: line 1"),
        ("a: 2024-99-99\n", "is not valid YAML"),
        ("a: \x07\n", "is not valid YAML"),
        pytest.param(f"name: {'9' * 5000}\n", "is not valid YAML", id="digits"),
        pytest.param("[" * 3000, "is not valid YAML", id="nesting"),
    ],
)
def test_load_sheets__a_file_that_is_no_sheet_is_named(
    folder: Path, content: str, said: str
) -> None:
    (folder / "t4.yaml").write_text(content)
    text = message(folder)
    assert text.startswith(f"{folder / 't4.yaml'}: ")
    assert said in text
    assert "\n" not in text


def test_load_sheets__a_file_that_is_not_utf8_is_named(folder: Path) -> None:
    (folder / "t4.yaml").write_bytes(b"name: \xff\xfe")
    assert "t4.yaml: is not UTF-8 text" in message(folder)


def test_load_sheets__a_folder_in_place_of_a_file_is_named(folder: Path) -> None:
    (folder / "odd.yaml").mkdir()
    assert "odd.yaml: cannot be read" in message(folder)


@pytest.mark.parametrize("name", ["RTX.yaml", "rtx-a6000.yaml", "rtx a6000.yaml", "t5.yml"])
def test_load_sheets__a_file_name_that_is_no_id_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_text((folder / "t4.yaml").read_text())
    assert f"{name}: a GPU sheet is named <id>.yaml" in message(folder)


@given(st.text(max_size=200))
@settings(max_examples=50, deadline=None)
def test_load_sheets__no_text_gives_anything_but_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzz" / "gpus"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.yaml").write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(DataError, match=r"x\.yaml"):
        load_sheets(folder, capabilities=DATA / "compute_capabilities.yaml")


# Which sheets


def test_load_sheets__an_unknown_id_gets_the_nearest(folder: Path) -> None:
    assert message(folder, ["rtx_a600"]) == (
        f"{folder}: there is no GPU 'rtx_a600'; did you mean rtx_a6000?"
    )


def test_load_sheets__an_id_far_from_all_gets_the_list(folder: Path) -> None:
    assert message(folder, ["voodoo"]).endswith("no GPU 'voodoo'; known are rtx_a6000, t4")


def test_load_sheets__an_id_asked_for_twice_is_refused(folder: Path) -> None:
    assert message(folder, ["t4", "t4"]).endswith("GPU 't4' was asked for 2 times")


def test_load_sheets__a_missing_or_empty_folder_is_named(tmp_path: Path) -> None:
    assert f"{tmp_path / 'gpus'}: is not a folder" in message(tmp_path / "gpus")
    (tmp_path / "gpus").mkdir()
    assert f"{tmp_path / 'gpus'}: holds no GPU sheet" in message(tmp_path / "gpus")


# The table of compute capabilities


def test_capabilities__a_missing_table_is_named(folder: Path) -> None:
    table = folder.parent / "compute_capabilities.yaml"
    table.unlink()
    assert message(folder) == f"{table}: cannot be read (No such file or directory)"


def test_capabilities__a_wrong_value_is_named_with_its_capability(folder: Path) -> None:
    table = folder.parent / "compute_capabilities.yaml"
    spoil(table, "max_warps_per_sm: {value: 64", "max_warps_per_sm: {value: 0")
    assert '"7.0".max_warps_per_sm.value: is 0; it must be greater than 0' in message(folder)


def test_capabilities__a_key_without_quotes_is_explained(folder: Path) -> None:
    table = folder.parent / "compute_capabilities.yaml"
    spoil(table, '"10.0":', "10.0:")
    assert '10.0: a compute capability is written in quotes, as in "8.6"' in message(folder)


def test_capabilities__an_entry_that_is_no_mapping_is_named(folder: Path) -> None:
    table = folder.parent / "compute_capabilities.yaml"
    table.write_text(table.read_text() + '"13.0": 7\n')
    assert '"13.0": is 7; it must be a mapping of names to figures' in message(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("max_warps_per_sm: {value: 64", "max_warps_per_sm: {value: 63", "max_threads_per_sm"),
        ("registers_per_sm: {value: 65536", "registers_per_sm: {value: 65535", "equal shares"),
        ("smem_per_block_max: {value: 98304", "smem_per_block_max: {value: 98305", "not exceed"),
    ],
)
def test_capabilities__figures_that_contradict_each_other_are_refused(
    folder: Path, old: str, new: str, said: str
) -> None:
    spoil(folder.parent / "compute_capabilities.yaml", old, new)
    text = message(folder, ["t4"])
    assert '"7.0"' in text
    assert said in text


def test_capabilities__no_reserve_is_a_figure_too() -> None:
    sheets = load_sheets(DATA / "gpus", ["v100_sxm2", "h100_sxm"])
    reserve = [s.figures["smem_reserved_per_block"].value for s in sheets.values()]
    assert reserve == [0, 1024]
