"""One variable of a result, and how a dataset is labelled with it."""

from collections.abc import Mapping
from dataclasses import dataclass

import xarray as xr

from pipeline.errors import VocabularyError


@dataclass(frozen=True)
class Variable:
    """What one variable or coordinate means.

    Attributes
    ----------
    units
        UDUNITS spelling; ``"1"`` for counts, shares and labels.
    long_name
        A short phrase that explains the variable to somebody who opens the store.
    nsight_metric
        The Nsight Compute metric that the variable stands for, where one exists.
    """

    units: str
    long_name: str
    nsight_metric: str | None = None

    @property
    def attrs(self) -> dict[str, str]:
        """The attributes as they stand in a store."""
        named = {"units": self.units, "long_name": self.long_name}
        return named | ({"nsight_metric": self.nsight_metric} if self.nsight_metric else {})


def annotate(dataset: xr.Dataset, vocabulary: Mapping[str, Variable]) -> xr.Dataset:
    """Give every variable and coordinate of ``dataset`` its units and meaning.

    Attributes that a variable already carries (sources, say) stay.

    Raises
    ------
    VocabularyError
        If the dataset holds a name that ``vocabulary`` does not know.
    """
    unknown = sorted(str(name) for name in dataset.variables if name not in vocabulary)
    if unknown:
        raise VocabularyError(
            f"variables {', '.join(unknown)} are not in the vocabulary; "
            f"add them to the family in pipeline/vocab that the dataset belongs to"
        )
    labelled = dataset.copy()
    for name in labelled.variables:
        labelled[name].attrs.update(vocabulary[str(name)].attrs)
    return labelled
