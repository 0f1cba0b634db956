"""What is decoded: models in their number formats, so many sequences of so many tokens."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.decode.fusion_plan import FusionPlan
from pipeline.decode.model import Model
from pipeline.decode.operations import Formats, Step, step


@dataclass(frozen=True)
class Workload:
    """Models and plans by id, and the sizes that all of them share.

    Attributes
    ----------
    models, formats
        Model id -> the model, and the number formats in which it is read.
    plans
        Plan id -> the plan.
    context
        Tokens per sequence whose keys and values are read.
    batch
        Sequences that are decoded together.
    rows_per_block
        Rows of a weight matrix that one block multiplies.
    """

    models: Mapping[str, Model]
    formats: Mapping[str, Formats]
    plans: Mapping[str, FusionPlan]
    context: int
    batch: int
    rows_per_block: int

    def step(self, model: str, plan: str) -> Step:
        """Derive the operations of one step of a model under a plan, by their ids."""
        return step(
            self.models[model],
            self.plans[plan],
            self.formats[model],
            context=self.context,
            batch=self.batch,
            rows_per_block=self.rows_per_block,
        )
