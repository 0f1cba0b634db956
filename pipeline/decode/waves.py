"""Wave quantisation: blocks fill the SMs in whole waves, and the last one leaves some idle."""

from collections.abc import Mapping
from dataclasses import dataclass

import xarray as xr

from pipeline.decode.operations import Amount, Step
from pipeline.vocab.decode import WAVES
from pipeline.vocab.variable import annotate
from pipeline.words import message

ROWS = message("{rows:,} rows")
"""Name of the launch of an operation."""


@dataclass(frozen=True)
class Launch:
    """So many blocks on a GPU.

    Attributes
    ----------
    gpu
        Its id.
    blocks
        Of one launch.
    label
        Name as shown to readers.
    """

    gpu: str
    blocks: int
    label: str


def waves(blocks: Amount, n_sm: Amount) -> Amount:
    """Count the waves in which ``blocks`` run, one block per SM at a time.

    >>> waves(512, 148)
    4
    """
    return -(-blocks // n_sm)


def sm_utilisation(blocks: Amount, n_sm: Amount) -> Amount:
    """Share of the SMs that is at work, on average over all waves.

    >>> round(sm_utilisation(512, 148), 2)
    0.86
    """
    return blocks / (waves(blocks, n_sm) * n_sm)


def decode_waves(
    step: Step, examples: Mapping[str, Launch], gpus: xr.Dataset, gpu: str
) -> xr.Dataset:
    """Count the waves of examples, and of every operation of a step that reads weights.

    Parameters
    ----------
    step
        Operations of one model.
    examples
        Id -> launch of another kind.
    gpus : (gpu)
        ``sm_count`` and ``gpu_name``.
    gpu
        GPU on which the operations run.

    Returns
    -------
    xarray.Dataset
        (case): ``blocks``, ``n_sm``, ``waves``, ``last_wave_blocks``, ``idle_sms`` (in the last
        wave), ``sm_utilisation``; ``gpu``, ``gpu_name``, ``case_label`` and ``operation``. Cases
        are the examples, then the operations.
    """
    launches = dict(examples) | {
        one.id: Launch(gpu, int(one.blocks), ROWS.format(rows=one.rows))
        for one in step.operations
        if one.rows
    }
    case = {"case": list(launches)}
    names = xr.DataArray([one.gpu for one in launches.values()], case)
    blocks = xr.DataArray([one.blocks for one in launches.values()], case)
    n_sm = gpus["sm_count"].drop_attrs().sel(gpu=names)
    needed = waves(blocks, n_sm)
    last = blocks - (needed - 1) * n_sm
    dataset = xr.Dataset(
        {
            "blocks": blocks,
            "n_sm": n_sm,
            "waves": needed,
            "last_wave_blocks": last,
            "idle_sms": n_sm - last,
            "sm_utilisation": sm_utilisation(blocks, n_sm),
        },
        {
            "case_label": ("case", [one.label for one in launches.values()]),
            "operation": ("case", ["" if id_ in examples else id_ for id_ in launches]),
        },
    )
    return annotate(dataset, WAVES)
