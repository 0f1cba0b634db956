"""Replays of single launches of compiled kernels of the user's own."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr

from pipeline.compiled.decode import Program
from pipeline.compiled.launch import Launch
from pipeline.compiled.no_code import no_code
from pipeline.errors import PaperGpuError
from pipeline.timing.replay import arranged, by_instruction
from pipeline.timing.sm.predict import predict
from pipeline.timing.sm.result import Prediction
from pipeline.timing.sm.traced import Traced
from pipeline.vocab.own_cuda import OWN_CUDA_REPLAYS
from pipeline.vocab.sm import SM_INSTRUCTIONS
from pipeline.vocab.variable import annotate

_WHY = "not_replayed"
_LABELS = ("gpu", "gpu_name", "arch")


def replay_launch(
    kernel: str,
    architecture: str,
    program: Callable[[], Program],
    launch: Callable[[Program], Launch],
    gpus: xr.Dataset,
) -> tuple[xr.Dataset, xr.Dataset]:
    """Replay one launch on every GPU of an architecture.

    A launch that cannot be replayed is a result too: it says why.

    Parameters
    ----------
    kernel
        Id of the kernel.
    architecture
        For which its code is, such as ``sm_86``.
    program
        Compiles or reads the code; not called if there is no such GPU.
    launch
        Launches it.
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them.

    Returns
    -------
    predictions : (kernel, gpu)
        One kernel and the GPUs of the architecture: the variables of
        :func:`pipeline.timing.replay.sm_predictions` but the rate, NaN where the launch cannot be
        replayed, and ``not_replayed``, which says why.
    instructions : (gpu, instruction, stall_reason)
        Stalls as :func:`pipeline.timing.replay.by_instruction` arranges them, of the GPUs on which
        the launch was replayed.
    """
    here = gpus.isel(gpu=(gpus["arch"] == architecture).to_numpy())
    names = here["gpu"].to_numpy().tolist()
    found, refused = dict[str, Prediction](), dict[str, str]()
    code, traced = no_code(kernel, architecture), None
    for name in names:
        try:
            # GPUs of one architecture share what they can.
            traced = traced or Traced(launch(program()))
            code = traced.launch.program
            found[name] = predict(traced, here.sel(gpu=name))
        except PaperGpuError as error:
            refused[name] = "; ".join(str(error).splitlines())
    places = [((0, names.index(name)), one) for name, one in found.items()]
    predictions = arranged(places, {"kernel": 1, "gpu": len(names)}).assign(
        {_WHY: (("kernel", "gpu"), np.array([[refused.get(name, "") for name in names]], str))}
    )
    columns = {name: ("gpu", here[name].to_numpy()) for name in _LABELS}
    rows = by_instruction(code, found)
    return (
        annotate(predictions.assign_coords({"kernel": [kernel]} | columns), OWN_CUDA_REPLAYS),
        annotate(rows.assign_coords(kernel=kernel), SM_INSTRUCTIONS),
    )


def gather_replays(
    replays: Sequence[xr.Dataset], labels: Mapping[str, str], gpus: xr.Dataset
) -> xr.Dataset:
    """Put the replays of all launches into one dataset.

    Parameters
    ----------
    replays : (kernel, gpu)
        One dataset per kernel and architecture.
    labels
        Kernel id to the name that readers see, in the order in which kernels are shown.
    gpus : (gpu,)
        As for :func:`replay_launch`, in the order in which they are shown.

    Returns
    -------
    (kernel, gpu)
        What no code is for has no numbers, and nothing to say why.
    """
    names = gpus["gpu"].to_numpy()
    whole = [
        xr.concat(
            [one.drop_vars(["gpu_name", "arch"]) for one in replays if one["kernel"] == kernel],
            "gpu",
        ).reindex(gpu=names, fill_value={_WHY: ""})
        for kernel in labels
    ]
    together = xr.concat(whole, "kernel").assign_coords(
        {name: ("gpu", gpus[name].to_numpy()) for name in _LABELS}
        | {
            "kernel_number": ("kernel", np.arange(1, len(labels) + 1)),
            "kernel_label": ("kernel", list(labels.values())),
        }
    )
    return annotate(together, OWN_CUDA_REPLAYS)
