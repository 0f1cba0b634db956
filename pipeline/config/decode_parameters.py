"""Settings and sheets of the decode step as the plain values that rules hand to their jobs.

As in :mod:`pipeline.config.parameters`, each function gives exactly what one rule reads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from pipeline.config.decode import PUBLISHED, Decode, FormatEntry
from pipeline.decode.fusion_plan import FusionPlan
from pipeline.decode.model import Model
from pipeline.decode.number_format import NumberFormat
from pipeline.decode.operations import Formats
from pipeline.decode.workload import Workload


def execution_plans(settings: Decode) -> list[str]:
    """Fusion plans of the executions, each once."""
    return list(dict.fromkeys(one.plan for one in settings.executions.values()))


def plan_ids(settings: Decode) -> list[str]:
    """Fusion plans that any setting names, each once."""
    return list(dict.fromkeys([settings.ledger_plan, *execution_plans(settings)]))


def wave_gpus(settings: Decode, gpu: str) -> list[str]:
    """GPUs whose waves are counted, each once: ``gpu`` for the model, and those of the cases."""
    return list(dict.fromkeys([gpu, *(case.gpu for case in settings.waves.values())]))


def workload(
    settings: Decode,
    models: Mapping[str, Model],
    plans: Mapping[str, FusionPlan],
    chosen_models: Iterable[str],
    chosen_plans: Iterable[str],
) -> dict[str, Any]:
    """Take what is decoded, for ``TypeAdapter(Workload)`` to read back.

    Parameters
    ----------
    settings, models, plans
        Everything that there is.
    chosen_models, chosen_plans
        What the rule reads of it, by id.
    """
    wanted = {id_: models[id_] for id_ in chosen_models}
    return asdict(
        Workload(
            models=wanted,
            formats={
                id_: Formats(
                    weights=_format(settings.weights, model),
                    lm_head=_format(settings.lm_head, model),
                    kv_cache=_format(settings.kv_cache, model),
                )
                for id_, model in wanted.items()
            },
            plans={id_: plans[id_] for id_ in chosen_plans},
            context=settings.context,
            batch=settings.batch,
            rows_per_block=settings.rows_per_block,
        )
    )


def _format(entry: FormatEntry, model: Model) -> NumberFormat:
    kind = model.data_type if entry.type == PUBLISHED else entry.type
    return NumberFormat(kind, entry.group or 0, entry.scale or "")


def entries(group: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Take a group of entries of the configuration, each by its id."""
    return {id_: one.model_dump() for id_, one in group.items()}
