"""The ledger of a step: which operation reads how much."""

import xarray as xr

from pipeline.decode.operations import Step
from pipeline.decode.workload import Workload
from pipeline.vocab.decode import LEDGER
from pipeline.vocab.variable import annotate

_FACTS = ("count", "rows", "blocks", "weight_bytes", "kv_bytes")


def decode_ledger(workload: Workload, plan: str) -> xr.Dataset:
    """List the operations of one step of every model.

    Parameters
    ----------
    workload
        What is decoded.
    plan
        The fusion plan whose groups are the operations.

    Returns
    -------
    xarray.Dataset
        (model, operation): ``count``, ``rows``, ``blocks``, ``bytes_per_layer`` and its parts
        ``weight_bytes`` and ``kv_bytes`` (B), ``bytes_total`` (B), ``share``. (model):
        ``parameters``. An operation that a model does not have reads nothing and runs 0 times.
    """
    tables = [_table(workload.step(model, plan)) for model in workload.models]
    # Operations keep the order of the plan, whichever model has them.
    order = [*workload.plans[plan].layer, *workload.plans[plan].head]
    held = {name for table in tables for name in table["operation"].values}
    dataset = xr.concat(
        [t.reindex(operation=[o for o in order if o in held], fill_value=0) for t in tables],
        "model",
    ).assign_coords(
        model=list(workload.models),
        model_name=("model", [one.name for one in workload.models.values()]),
        context=workload.context,
        batch=workload.batch,
    )
    dataset["bytes_per_layer"] = dataset["weight_bytes"] + dataset["kv_bytes"]
    dataset["bytes_total"] = dataset["count"] * dataset["bytes_per_layer"]
    dataset["share"] = dataset["bytes_total"] / dataset["bytes_total"].sum("operation")
    dataset["parameters"] = ("model", [one.parameters for one in workload.models.values()])
    return annotate(dataset, LEDGER)


def _table(step: Step) -> xr.Dataset:
    return xr.Dataset(
        {name: ("operation", [getattr(one, name) for one in step.operations]) for name in _FACTS},
        coords={"operation": [one.id for one in step.operations]},
    )
