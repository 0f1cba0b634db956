"""Compiled kernels of the user's own, all of them together: verdicts, counts, source lines."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from pipeline.counting.memory_kinds import memory_kinds
from pipeline.counting.source_lines import source_lines
from pipeline.errors import KernelError
from pipeline.vocab.own_cuda import OWN_CUDA_COUNTS, OWN_CUDA_LINES, OWN_CUDA_MEMORY
from pipeline.vocab.variable import Variable, annotate


def verdict(counts: Sequence[xr.Dataset]) -> str:
    """Say in a line for each architecture that a kernel passed.

    Parameters
    ----------
    counts : (kernel, arch)
        One dataset per architecture, from :func:`pipeline.counting.own_cuda_run.run_own_cuda`.

    Raises
    ------
    KernelError
        If the kernel failed for one of them; says why, the same reason once.
    """
    reasons: dict[str, list[str]] = {}
    for one in counts:
        if one["failure"].item():
            reasons.setdefault(str(one["failure"].item()), []).append(str(one["arch"].item()))
    if reasons:
        kernel = counts[0]["kernel"].item()
        told = "\n".join(f"  {', '.join(archs)}: {why}" for why, archs in reasons.items())
        raise KernelError(
            f"own_cuda.{kernel} failed:\n{told}\nAll other kernels go on; mend it, or leave it out "
            f"with own_cuda.{kernel}: false"
        )
    return "".join(f"{_passed(one)}\n" for one in counts)


def _passed(one: xr.Dataset) -> str:
    where = f"{one['kernel'].item()} for {one['arch'].item()}"
    if one["how"].item() != "run":
        return f"{where}: counted, too large or without contents to be run with values"
    compared = (
        f"equal to its specification, largest difference {one['max_abs_error'].item():.3g}"
        if one["checked"].item()
        else "run; no specification to compare with"
    )
    hazards = one["hazard_count"].item()
    return f"{where}: {compared}; {f'{hazards} hazards reported' if hazards else 'no hazards'}"


def gather_cuda(counts: Sequence[xr.Dataset], labels: Mapping[str, str]) -> xr.Dataset:
    """Put all kernels and architectures into one dataset.

    Parameters
    ----------
    counts : (kernel, arch)
        One dataset per kernel and architecture.
    labels
        Kernel id to the name that readers see, in the order in which kernels are shown.

    Returns
    -------
    (kernel, arch)
        ``counted`` says where there are counts; elsewhere they are 0.

    Raises
    ------
    KernelError
        If nothing was counted.
    """
    if not any(one["counted"].item() for one in counts):
        raise KernelError(
            f"no kernel of own_cuda could be launched ({', '.join(labels)}), so there is nothing "
            f"to predict; the message of each says why"
        )
    archs = sorted({str(one["arch"].item()) for one in counts}, key=_capability)
    whole = [
        xr.concat(
            [one for one in counts if one["kernel"].item() == kernel], "arch",
            data_vars="minimal", coords="minimal", compat="equals",
        ).reindex(arch=archs, fill_value=_FILL)
        for kernel in labels
    ]  # fmt: skip
    together = xr.concat(whole, "kernel", data_vars="minimal", coords="minimal", compat="equals")
    together = together.assign_coords(
        kernel_number=("kernel", np.arange(1, len(labels) + 1)),
        kernel_label=("kernel", list(labels.values())),
    )
    return annotate(together, OWN_CUDA_COUNTS)


_TEXT = {"failure": "", "how": "none"}
_FILL = {
    name: _TEXT.get(name, False if name in ("counted", "checked") else 0)
    for name in OWN_CUDA_COUNTS
} | {"max_abs_error": float("nan")}


def _capability(arch: str) -> int:
    return int(arch.removeprefix("sm_"))


def gather_rows(
    instructions: Sequence[xr.Dataset], labels: Mapping[str, str]
) -> tuple[xr.Dataset, xr.Dataset]:
    """Put source lines, and kinds of access to memory, of all launches below each other.

    Parameters
    ----------
    instructions : (instruction,)
        One dataset per kernel and architecture.
    labels
        Kernel id to the name that readers see.

    Returns
    -------
    lines : (row,)
        Lines as :func:`pipeline.counting.source_lines.source_lines` ranks them.
    memory : (row,)
        Kinds as :func:`pipeline.counting.memory_kinds.memory_kinds` sums them.

    Code that was not launched is left out of both.
    """
    known = [one for one in instructions if int(one["executed"].sum())]
    lines = [_labelled(source_lines(one), one, "line", labels) for one in known]
    memory = [_labelled(memory_kinds(one), one, "access", labels) for one in known]
    return _below(lines, OWN_CUDA_LINES), _below(memory, OWN_CUDA_MEMORY)


def _labelled(
    rows: xr.Dataset, launched: xr.Dataset, dimension: str, labels: Mapping[str, str]
) -> xr.Dataset:
    """Say of every row whose it is, so that rows of several launches can be told apart."""
    count, kernel = rows.sizes[dimension], str(launched["kernel"].item())
    told = {"kernel": kernel, "kernel_label": labels[kernel], "arch": str(launched["arch"].item())}
    columns = {name: ("row", np.array([text] * count, np.str_)) for name, text in told.items()}
    entries = ("row", rows[dimension].to_numpy())
    renamed = rows.drop_attrs().rename({dimension: "row"})
    return renamed.assign(columns | {dimension: entries})


def _below(parts: Sequence[xr.Dataset], vocabulary: Mapping[str, Variable]) -> xr.Dataset:
    together = xr.concat(parts, "row")
    return annotate(together.assign_coords(row=np.arange(together.sizes["row"])), vocabulary)
