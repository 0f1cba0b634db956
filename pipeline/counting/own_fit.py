"""Kernels of the user's own that are right, and of which a GPU cannot hold a single block."""

import xarray as xr


def unfit(occupancy: xr.Dataset, gpus: xr.Dataset) -> dict[str, str]:
    """Say of each kernel on which GPUs it cannot run, and why.

    Parameters
    ----------
    occupancy : (kernel, gpu)
        What :func:`pipeline.hardware.occupancy.ladder_occupancy` gives.
    gpus : (gpu,)
        The limits of a block are read.

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
            place = "runs on no GPU" if every else f"does not run on {', '.join(without)}"
            reasons = _reasons(one.sel(gpu=without), gpus.sel(gpu=without))
            texts[str(kernel)] = f"{place}: {' and '.join(reasons)}"
    return texts


def notes(occupancy: xr.Dataset, gpus: xr.Dataset) -> str:
    """Give what :func:`unfit` says as lines of text, with the same arguments; none if all fit."""
    return "".join(f"note: {one} {text}\n" for one, text in unfit(occupancy, gpus).items())


def _reasons(one: xr.Dataset, gpus: xr.Dataset) -> list[str]:
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
        "capability": f"its instructions need compute capability {major}.{minor}",
        "warps": f"a block has {threads} threads, at most {most['max_threads_per_block']} go",
        "registers": (
            f"a block of {threads} threads takes {registers} registers for each, and may hold "
            f"{most['registers_per_block_max']} in all"
        ),
        "shared": (
            f"a block takes {smem} bytes of shared memory, at most {most['smem_per_block_max']} "
            f"are allowed"
        ),
    }
    limits = {name for names in one["limited_by"].values.tolist() for name in names.split()}
    return [text for name, text in texts.items() if name in limits]
