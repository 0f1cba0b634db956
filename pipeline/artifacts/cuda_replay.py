"""What a replay on one SM says of one compiled kernel of the user's own."""

from dataclasses import dataclass

import pandas as pd
import xarray as xr

from pipeline.artifacts.ladder import stall_name
from pipeline.artifacts.make import spoken
from pipeline.artifacts.own import own_cuda_replay
from pipeline.render.column import Legend
from pipeline.render.table import table_html
from pipeline.words import Say, listed, spaced, speaker

_ISSUED = "selected"
_COLUMNS = tuple(one for one in own_cuda_replay.COLUMNS if one.field != "kernel_name")


@dataclass(frozen=True)
class Waits:
    """How long warps stood before each instruction.

    Attributes
    ----------
    gpu_name
        GPU of the replay.
    rows
        By position in the code: ``address``, ``source_file``, ``source_line``, ``waited``, the
        cycles without those of issuing, and ``all``, the cycles with them.
    reasons
        The same cycles without those of issuing, a column per reason.
    """

    gpu_name: str
    rows: pd.DataFrame
    reasons: pd.DataFrame


def waits(stalls: xr.Dataset, replays: xr.Dataset) -> Waits | None:
    """Take the waits on the first GPU that was replayed; none if none was.

    Parameters
    ----------
    stalls : (gpu, instruction, stall_reason)
        Of one kernel and architecture.
    replays : (gpu,)
        The store ``own/cuda_replays``, of this kernel.
    """
    if not stalls.sizes["gpu"]:
        return None
    first = stalls.isel(gpu=0)
    over = first["stall_cycles"].transpose("instruction", "stall_reason")
    cycles = pd.DataFrame(over.to_numpy(), columns=over["stall_reason"].to_numpy().tolist())
    reasons = cycles.drop(columns=_ISSUED)
    rows = first[["address", "source_file", "source_line"]].reset_coords(drop=True).to_dataframe()
    rows = rows.assign(waited=reasons.sum(axis="columns"), all=cycles.sum(axis="columns"))
    name = replays["gpu_name"].sel(gpu=first["gpu"].item())
    return Waits(str(name.item()), rows, reasons)


def longest_wait(found: Waits | None, say: Say) -> list[str]:
    """Say in a sentence before which source line warps stand longest, and for what.

    Instructions whose line is not known stand for themselves.
    """
    if found is None or not found.rows["waited"].sum():
        return []
    rows, instruction = found.rows, say("instruction {address}")
    line = rows["source_file"] + ":" + rows["source_line"].astype(str)
    places = line.where(
        rows["source_line"] > 0,
        [instruction.format(address=f"{address:04x}") for address in rows["address"]],
    )
    place = str(rows.groupby(places, sort=False)["waited"].sum().idxmax())
    here = places == place
    told = say(
        "On one SM of the {gpu}, warps wait for {waited:.0%} of their cycles; {share:.0%} of all "
        "before {place}, mostly {reason}."
    )
    total = rows["all"].sum()
    return [
        told.format(
            gpu=found.gpu_name,
            waited=rows["waited"].sum() / total,
            share=rows["waited"][here].sum() / total,
            place=place,
            reason=stall_name(str(found.reasons[here].sum().idxmax())),
        )
    ]


def refusals(replays: xr.Dataset, arch: str, say: Say) -> list[str]:
    """Say why code is not replayed on GPUs of its architecture, each reason once.

    Parameters
    ----------
    replays : (gpu,)
        The store ``own/cuda_replays``, of one kernel.
    arch
        For which the code is.
    say
        Language of the sentence; reasons are in English, as all errors are.
    """
    here = replays.isel(gpu=(replays["arch"] == arch).to_numpy())
    frame = here[["gpu_name", "not_replayed"]].to_dataframe()
    told = say("Not replayed on {gpus}: {why}")
    return [
        told.format(gpus=listed(list(rows["gpu_name"]), say), why=why)
        for why, rows in frame.groupby("not_replayed", sort=False)
        if why
    ]


def on_one_sm(replays: xr.Dataset, predictions: xr.Dataset, language: str) -> list[str]:
    """Show the replays of one kernel as a table, if there are any.

    Parameters
    ----------
    replays : (kernel, gpu)
        The store ``own/cuda_replays``, of this kernel.
    predictions : (kernel, gpu, method)
        The store ``own/cuda_predictions``, of this kernel.
    language
        Of the words.
    """
    say = speaker(language)
    ran = own_cuda_replay.table(replays, predictions, say).dropna(subset="t")
    if ran.empty:
        return []
    caption = say(
        "The machine code, run cycle by cycle on one SM, beside the time of the slowest resource. "
        "Shares are those of the cycles of the resident warps; a warp that issues is selected."
    )
    legend = Legend("replay", say("Replay on one SM"), spaced(caption, language), language)
    return [table_html(ran, [spoken(column, say) for column in _COLUMNS], legend)]
