"""Model sheets: those of the repository, and every way to get one wrong."""

import pytest
import yaml

from pipeline.decode.model_sheet import load_models
from pipeline.errors import DataError
from tests.decode.generators import DATA, MODELS


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.yaml").write_text((DATA / "models/llama_3_2_1b.yaml").read_text())
    return tmp_path


def message(folder):
    with pytest.raises(DataError) as error:
        load_models(folder)
    return str(error.value)


def change(folder, **values):
    path = folder / "mine.yaml"
    sheet = yaml.safe_load(path.read_text())
    for field, value in values.items():
        sheet[field]["value"] = value
    path.write_text(yaml.safe_dump(sheet))


def test_models__have_as_many_parameters_as_their_hub_pages_say():
    assert {name: model.parameters for name, model in MODELS.items()} == {
        "llama_3_1_8b": 8_030_261_248,
        "llama_3_2_1b": 1_235_814_400,
        "llama_3_2_3b": 3_212_749_824,
        "qwen3_0_6b": 596_049_920,
        "qwen3_1_7b": 1_720_574_976,
        "qwen3_8b": 8_190_735_360,
    }


def test_models__every_source_names_a_document_and_a_place_in_it():
    for path in (DATA / "models").iterdir():
        for name, figure in yaml.safe_load(path.read_text()).items():
            if name != "name":
                assert ": " in figure["source"]
                assert "://" not in figure["source"]


def test_load_models__a_new_file_is_a_new_model(folder):
    change(folder, layers=20)
    assert load_models(folder)["mine"].layers == 20


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kv_heads": 5}, "kv_heads (5) must divide heads (32)"),
        ({"kv_heads": 64}, "kv_heads (64) must divide heads (32)"),
        ({"head_size": 65}, "head_size (65) must be even"),
        ({"hidden": 2048 * 10**8}, "at most 1e+14 are allowed"),
        ({"layers": 0}, "layers.value: is 0; it must be greater than 0"),
        ({"layers": 16.5}, "layers.value: is 16.5, not a whole number"),
        ({"tied_embeddings": "maybe"}, "tied_embeddings.value: is 'maybe'; it must be true or f"),
        ({"data_type": "bf61"}, "data_type.value: is 'bf61'; it must be one of 'fp32', 'bf16'"),
    ],
)
def test_load_models__a_wrong_value_is_explained_in_one_line(folder, values, said):
    change(folder, **values)
    text = message(folder)
    assert text.startswith(f"{folder / 'mine.yaml'}: ")
    assert said in text
    assert "\n" not in text


def test_load_models__all_mistakes_stand_in_one_message(folder):
    path = folder / "mine.yaml"
    path.write_text(path.read_text().replace("kv_heads:", "kv_haeds:"))
    (folder / "other.yaml").write_text("name: Other\n")
    text = message(folder)
    assert "kv_haeds: is not a field here; did you mean kv_heads?" in text
    assert "kv_heads: is missing; add it as {value: ..., unit: ..., source" in text
    assert "other.yaml: tied_embeddings: is missing; add it as" in text
    assert "problems in the model data" in text


def test_load_models__an_unknown_id_gets_the_nearest():
    with pytest.raises(DataError, match="there is no model 'llama_3_1b'; did you mean llama_3_"):
        load_models(DATA / "models", ["llama_3_1b"])
