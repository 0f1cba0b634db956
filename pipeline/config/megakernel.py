"""Settings of the megakernel that is run instruction by instruction, and of its timelines."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline.config.section import Section, Whole, setting


class Megakernel(Section):
    """The megakernel by instructions, timelines, and what is held against measurements."""

    execution: str = setting(
        "Execution whose fusion plan says what one instruction does.",
        "execution id",
        "one of decode.executions with launch megakernel",
    )
    kernels: str = setting(
        "Execution that stands for what engines were measured with.",
        "execution id",
        "one of decode.executions with launch graphs",
    )
    assignment: Literal["contiguous", "round_robin"] = setting(
        "Which blocks of rows an instruction gets in timelines: neighbours, or every so many. "
        "decode/megakernel.zarr has both.",
        "1",
        "contiguous or round_robin",
    )
    layers: Annotated[Whole, Field(ge=1, le=8)] = setting(
        "Layers that timelines and traces show, from the first.", "1", "1 to 8"
    )
