"""Kernels of the user's own that are right, and of which a GPU cannot hold a single block."""

import xarray as xr

from pipeline.words import Say, english, listed


def unfit(occupancy: xr.Dataset, gpus: xr.Dataset, say: Say) -> dict[str, str]:
    """Say of each kernel on which GPUs it cannot run, and why.

    Parameters
    ----------
    occupancy : (kernel, gpu)
        What :func:`pipeline.hardware.occupancy.ladder_occupancy` gives.
    gpus : (gpu,)
        The limits of a block are read.
    say
        The language.

    Returns
    -------
    Kernel id to a text that continues its name; kernels that fit everywhere are left out.
    """
    texts = {}
    for kernel in occupancy["kernel"].values.tolist():
        one = occupancy.sel(kernel=kernel)
        without = one["gpu"].values[one["blocks_per_sm"].values == 0].tolist()
        if without:
            every = len(without) == one.sizes["gpu"]
            place = (
                say("runs on no GPU")
                if every
                else say("does not run on {gpus}").format(gpus=listed(without, say))
            )
            reasons = _reasons(one.sel(gpu=without), gpus.sel(gpu=without), say)
            texts[str(kernel)] = say("{place}: {reasons}").format(
                place=place, reasons=say(" and ").join(reasons)
            )
    return texts


def notes(occupancy: xr.Dataset, gpus: xr.Dataset) -> str:
    """Give what :func:`unfit` says as lines of text, with the same arguments; none if all fit."""
    return "".join(f"note: {one} {text}\n" for one, text in unfit(occupancy, gpus, english).items())


def _reasons(one: xr.Dataset, gpus: xr.Dataset, say: Say) -> list[str]:
    """Hold a block of one kernel against the limits that keep it out."""
    threads, registers, smem = (
        one[name].item() for name in ("threads_per_block", "registers_per_thread", "smem_bytes")
    )
    most = {
        name: gpus[name].max().item()
        for name in ("max_threads_per_block", "registers_per_block_max", "smem_per_block_max")
    }
    major, minor = divmod(one["capability_min"].item(), 10)
    texts = {
        "capability": say("its instructions need compute capability {least}").format(
            least=f"{major}.{minor}"
        ),
        "warps": say("a block has {threads} threads, at most {most} go").format(
            threads=threads, most=most["max_threads_per_block"]
        ),
        "registers": say(
            "a block of {threads} threads takes {registers} registers for each, and may hold "
            "{most} in all"
        ).format(threads=threads, registers=registers, most=most["registers_per_block_max"]),
        "shared": say(
            "a block takes {smem} bytes of shared memory, at most {most} are allowed"
        ).format(smem=smem, most=most["smem_per_block_max"]),
    }
    limits = {name for names in one["limited_by"].values.tolist() for name in names.split()}
    return [text for name, text in texts.items() if name in limits]
