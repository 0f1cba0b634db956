"""Settings of the decode step: what is decoded, how it is launched, what is assumed."""

import re
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from pipeline.config import section
from pipeline.config.section import Ids, Number, Section, Whole, setting
from pipeline.decode.number_format import TYPE_BITS

PUBLISHED = "published"

_ID = re.compile(r"[a-z0-9_]{1,60}")
_LEFT_OUT = (False, "false", "False")
_TYPES = ", ".join(TYPE_BITS)

T = TypeVar("T")

# Anything longer was given in microseconds.
Seconds = Annotated[Number, Field(ge=0, le=0.01)]
SECONDS = "0 to 0.01"
Share = Annotated[Number, Field(gt=0, le=1)]
Label = Annotated[section.Label, Field(min_length=1)]


def _number_type(value: str) -> str:
    if value not in TYPE_BITS:
        raise PydanticCustomError("type", "must be one of {types}", {"types": _TYPES})
    return value


def _number_type_or_published(value: str) -> str:
    return value if value == PUBLISHED else _number_type(value)


def _named(value: object) -> object:
    """Accept a type alone for a format without scales."""
    return {"type": value} if isinstance(value, str) else value


def _kept(entries: object) -> object:
    """Leave out what is false, and require names that files and stores can have."""
    if not isinstance(entries, dict):
        return entries
    kept = {name: entry for name, entry in entries.items() if entry not in _LEFT_OUT}
    wrong = [repr(name) for name in kept if not (isinstance(name, str) and _ID.fullmatch(name))]
    if wrong:
        raise PydanticCustomError(
            "name",
            "{wrong}: a name is made of a to z, 0 to 9 and _, at most 60",
            {"wrong": ", ".join(wrong)},
        )
    return kept


Entries = Annotated[dict[str, T], BeforeValidator(_kept)]


class FormatEntry(Section):
    """How numbers are kept. `decode.weights: bf16` is short for a type without scales."""

    type: Annotated[str, AfterValidator(_number_type_or_published)] = setting(
        "Type of the numbers; published is the one of the model's sheet.",
        "1",
        f"published, {_TYPES}",
    )
    group: Annotated[Whole, Field(ge=1, le=10**9)] | None = setting(
        "Numbers of one row, or of one head, that share a scale.",
        "1",
        "from 1; left out without scales",
        default=None,
    )
    scale: Annotated[str, AfterValidator(_number_type)] | None = setting(
        "Type of the scales.", "1", f"{_TYPES}; left out without scales", default=None
    )

    @model_validator(mode="after")
    def _scales_are_whole(self) -> Self:
        if (self.group is None) != (self.scale is None):
            raise PydanticCustomError("scales", "must have group and scale, or neither")
        if self.type == PUBLISHED and self.group is not None:
            raise PydanticCustomError(
                "scales", "must name a type where it has scales: weights are published without"
            )
        return self


Format = Annotated[FormatEntry, BeforeValidator(_named)]


class ExecutionEntry(Section):
    """One way to run a step. false leaves it out."""

    label: Label = setting("Name as shown to readers.", "1", "text")
    plan: str = setting(
        "Fusion plan: what runs together.", "plan id", "a file name in data/fusion_plans"
    )
    launch: Literal["stream", "graphs", "pdl", "megakernel"] = setting(
        "How one kernel follows the other: on a stream, in a CUDA graph, there with programmatic "
        "dependent launch, or as instructions of one kernel.",
        "1",
        "stream, graphs, pdl or megakernel",
    )
    prefetch: bool = setting(
        "Whether weights are read into shared memory while an operation waits for its input.",
        "1",
        "true or false; only pdl and megakernel can",
    )

    @model_validator(mode="after")
    def _can_prefetch(self) -> Self:
        if self.prefetch and self.launch in ("stream", "graphs"):
            raise PydanticCustomError(
                "prefetch",
                "must have prefetch: false with launch: {launch}: a kernel there begins when the "
                "one before it has ended",
                {"launch": self.launch},
            )
        return self


class Timeline(Section):
    """What is assumed of every GPU; the values are the lecture's."""

    ramp: Seconds = setting("From a kernel's start to its first weights.", "s", SECONDS)
    small: Seconds = setting("A kernel that reads no weights.", "s", SECONDS)
    sync: Seconds = setting(
        "From a result being there to the next instruction seeing it.", "s", SECONDS
    )
    instr_overhead: Seconds = setting(
        "What an instruction of a megakernel costs beyond reading and waiting.", "s", SECONDS
    )
    eff: Share = setting("Share of the DRAM bandwidth that reading reaches.", "1", "above 0, to 1")
    pages: Annotated[Whole, Field(ge=0, le=10**4)] = setting(
        "Pages of shared memory per SM into which weights are read ahead.", "1", "0 to 10000"
    )
    page_bytes: Annotated[Whole, Field(ge=1, le=2**20)] = setting(
        "Size of a page.", "bytes", "1 to 1048576"
    )


class VariantEntry(Section):
    """A change of one assumption. false leaves it out."""

    parameter: str = setting("The assumption.", "1", "a key of decode.timeline")
    value: Number = setting(
        "What it is instead.", "that of the key", "as for the key, not its value there"
    )


class WavesEntry(Section):
    """A launch whose waves are counted. false leaves it out."""

    label: Label = setting("Name as shown to readers.", "1", "text")
    gpu: str = setting("GPU on which it runs.", "GPU id", "one of gpus")
    blocks: Annotated[Whole, Field(ge=1, le=10**9)] = setting("Thread blocks.", "1", "from 1")


class Decode(Section):
    """One decode step of language models: bytes, ways to launch, times."""

    models: Ids = setting(
        "Language models, in the order in which they are shown.",
        "model ids",
        "all, or a list of file names in data/models, without .yaml",
    )
    context: Annotated[Whole, Field(ge=0, le=10**7)] = setting(
        "Tokens per sequence whose keys and values are read.", "tokens", "0 to 10000000"
    )
    batch: Annotated[Whole, Field(ge=1, le=10**4)] = setting(
        "Sequences that are decoded together.", "1", "1 to 10000"
    )
    weights: Format = setting("Format of the weights in the layers.", "1", "a format, see below")
    lm_head: Format = setting("Format of the weights of the head.", "1", "a format, see below")
    kv_cache: Format = setting("Format of keys and values.", "1", "a format, see below")
    rows_per_block: Annotated[Whole, Field(ge=1, le=10**6)] = setting(
        "Rows of a weight matrix that one thread block multiplies.", "1", "1 to 1000000"
    )
    ledger_plan: str = setting(
        "Fusion plan whose groups are the rows of the ledger.",
        "plan id",
        "a file name in data/fusion_plans, without .yaml",
    )
    executions: Annotated[Entries[ExecutionEntry], Field(min_length=1)] = setting(
        "Ways to run a step, in the order in which they are shown.",
        "execution id: keys",
        "the keys listed below; false leaves one out",
    )
    launch_gpu: str = setting(
        "GPU whose launch costs stand for those of others.",
        "GPU id",
        "a file name in data/gpus; its sheet has launch_stream and launch_graphs",
    )
    launch_costs: Literal["shared", "own"] = setting(
        "What a launch costs: shared, what launch_gpu pays, everywhere, as in the lecture; or own, "
        "what the GPU's sheet says, and launch_gpu's where it says nothing.",
        "1",
        "shared or own",
    )
    timeline: Timeline = setting("The assumptions.", "key: value", "the keys listed below")
    sensitivity: Entries[VariantEntry] = setting(
        "Changes of the assumptions, one at a time, in the order in which they are shown.",
        "variant id: keys",
        "the keys listed below; false leaves one out",
    )
    waves: Entries[WavesEntry] = setting(
        "Launches whose waves are counted besides those of the model.",
        "case id: keys",
        "the keys listed below; false leaves one out",
    )
