"""Model sheets: one file per language model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from pipeline.decode.model import Model
from pipeline.sheets.figures import Count, Flag, Name, Record, Sourced
from pipeline.sheets.folder import read_entry, require_none, sheet_paths

KIND = "model"

# Far beyond any model; products of the figures stay exact in int64 and in float64.
_MOST_PARAMETERS = 10**14


class DataType(Sourced):
    """A type in which weights are published."""

    value: Literal["fp32", "bf16", "fp16", "fp8"]
    unit: Literal["1"]


class ModelEntry(Record):
    """What one model sheet holds."""

    name: Name
    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    head_size: Count
    mlp: Count
    vocabulary: Count
    tied_embeddings: Flag
    qk_norm: Flag
    data_type: DataType

    def model(self, id_: str) -> Model:
        """Take the values, without unit and source."""
        return Model(
            id=id_,
            name=self.name,
            layers=self.layers.value,
            hidden=self.hidden.value,
            heads=self.heads.value,
            kv_heads=self.kv_heads.value,
            head_size=self.head_size.value,
            mlp=self.mlp.value,
            vocabulary=self.vocabulary.value,
            tied_embeddings=self.tied_embeddings.value,
            qk_norm=self.qk_norm.value,
            data_type=self.data_type.value,
        )

    @model_validator(mode="after")
    def _figures_fit_together(self) -> Self:
        heads, kv_heads = self.heads.value, self.kv_heads.value
        if heads % kv_heads:
            raise ValueError(
                f"kv_heads ({kv_heads}) must divide heads ({heads}): each head of keys and values "
                f"serves the same number of query heads"
            )
        if self.head_size.value % 2:
            raise ValueError(
                f"head_size ({self.head_size.value}) must be even: positions turn pairs of elements"
            )
        parameters = self.model("").parameters
        if parameters > _MOST_PARAMETERS:
            raise ValueError(
                f"the figures make a model of {parameters:.1e} parameters; at most "
                f"{_MOST_PARAMETERS:.0e} are allowed: is one of them in another unit?"
            )
        return self


def load_models(folder: Path, ids: Sequence[str] | None = None) -> dict[str, Model]:
    """Read model sheets.

    Parameters
    ----------
    folder
        Holds one ``<id>.yaml`` per model.
    ids
        Models to read, in this order; all of the folder in alphabetical order if left out.

    Returns
    -------
    dict
        Id -> model.

    Raises
    ------
    DataError
        With every problem found, one a line: file, field, what is wrong and what was allowed.
    """
    problems: list[str] = []
    models = {}
    for path in sheet_paths(folder, KIND, ids, problems):
        entry = read_entry(path, KIND, ModelEntry, problems)
        if entry:
            models[path.stem] = entry.model(path.stem)
    require_none(problems, KIND)
    return models
