"""Ways to run the operations of a step, and what a launch costs on each GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pipeline.decode.timeline import Mode
from pipeline.errors import DataError
from pipeline.hardware.sheet import Sheet
from pipeline.vocab.gpus import LAUNCH_FIGURES

Launch: TypeAlias = Literal["stream", "graphs", "pdl", "megakernel"]

_MODES: Mapping[str, Mode] = {
    "stream": "kernels",
    "graphs": "kernels",
    "pdl": "pdl",
    "megakernel": "megakernel",
}
# Programmatic dependent launch is an edge of a graph.
_COSTS = {"stream": "launch_stream", "graphs": "launch_graphs", "pdl": "launch_graphs"}


@dataclass(frozen=True)
class Execution:
    """One way to run a step.

    Attributes
    ----------
    label
        Name as shown to readers.
    plan
        Fusion plan: what runs together.
    launch
        How one thing follows the other.
    prefetch
        Whether weights are read ahead while an operation waits for its input.
    """

    label: str
    plan: str
    launch: Launch
    prefetch: bool

    @property
    def mode(self) -> Mode:
        """How the timeline treats it."""
        return _MODES[self.launch]

    @property
    def cost(self) -> str | None:
        """The launch figure of a GPU that it pays; None in a megakernel."""
        return _COSTS.get(self.launch)


def gpu_costs(
    sheets: Mapping[str, Sheet], reference: Sheet, own: bool
) -> dict[str, dict[str, Any]]:
    """Take from GPU sheets what a timeline depends on.

    Parameters
    ----------
    sheets
        Id -> sheet.
    reference
        GPU whose launch costs stand for those of others.
    own
        Whether a GPU whose sheet has launch costs pays these instead.

    Returns
    -------
    dict
        Id -> ``gpu_name``, ``sm_count``, ``dram_bandwidth`` (B/s), ``launch_stream`` and
        ``launch_graphs`` (s), and ``launch_source``, the GPU on which these two were measured;
        :mod:`pipeline.hardware.plain_figures` makes datasets of it.

    Raises
    ------
    DataError
        If the sheet of the reference has no launch costs.
    """
    if not set(reference.figures) >= set(LAUNCH_FIGURES):
        raise DataError(
            f"decode.launch_gpu: data/gpus/{reference.id}.yaml has no "
            f"{' and '.join(LAUNCH_FIGURES)}, so it cannot stand for other GPUs; choose another GPU"
        )
    costs = {}
    for gpu, sheet in sheets.items():
        payer = sheet if own and set(sheet.figures) >= set(LAUNCH_FIGURES) else reference
        costs[gpu] = {
            "gpu_name": sheet.name,
            "sm_count": sheet.figures["sm_count"].value,
            "dram_bandwidth": float(sheet.figures["dram_bandwidth"].value),
            **{name: float(payer.figures[name].value) for name in LAUNCH_FIGURES},
            "launch_source": payer.name,
        }
    return costs
