"""What ``config/config.yaml`` may hold, key by key.

No number has a default: the file itself is the one place where values are written down.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.config.block_programs import BlockPrograms
from pipeline.config.compiled import Compiled
from pipeline.config.decode import Decode
from pipeline.config.lecture11 import Lecture11
from pipeline.config.megakernel import Megakernel
from pipeline.config.replay import Replay
from pipeline.config.section import LARGEST_SEED, Ids, Section, Sizes, Whole, setting
from pipeline.config.sweeps import Sweeps
from pipeline.config.tile_order import TileOrder

# Elements of float32 in a line of 128 bytes.
LINE_ELEMENTS = 32

LARGEST_SIMULATED = 2048

# The largest counter, 8 n**3 bytes of global accesses in the naive kernel, stays below 2**53: above
# that float64 no longer holds every whole number.
LARGEST_EXTRAPOLATED = 65536


def _simulated(n: int) -> int:
    if n < LINE_ELEMENTS or n % LINE_ELEMENTS:
        raise PydanticCustomError(
            "size",
            "must be a positive multiple of {step}: only then do all rows of a matrix start on a "
            "128-byte line, and only then can the counts be carried to other sizes",
            {"step": LINE_ELEMENTS},
        )
    if n > LARGEST_SIMULATED:
        raise PydanticCustomError(
            "size",
            "must be at most {largest}: simulating n executes n cubed multiply-adds, so twice the "
            "size takes eight times as long; put larger sizes into extrapolation.sizes",
            {"largest": LARGEST_SIMULATED},
        )
    return n


def _extrapolated(n: int) -> int:
    if not 0 < n <= LARGEST_EXTRAPOLATED:
        raise PydanticCustomError(
            "size",
            "must be between 1 and {largest}: beyond that a counter no longer fits the whole "
            "numbers of float64",
            {"largest": LARGEST_EXTRAPOLATED},
        )
    return n


def _or_nothing(value: object) -> object:
    """Take a key without a value for an empty group."""
    return {} if value is None else value


Simulated = Annotated[Whole, AfterValidator(_simulated)]
Extrapolated = Annotated[Whole, AfterValidator(_extrapolated)]

BOTH = "both"
"""The setting of the language that stands for all of them."""

SIMULATED = f"multiples of {LINE_ELEMENTS} up to {LARGEST_SIMULATED}"
EXTRAPOLATED = f"1 to {LARGEST_EXTRAPOLATED}"


class Counting(Section):
    """What is simulated: every kernel at every size that it takes."""

    sizes: Sizes[Simulated] = setting(
        "Sizes n of the square matrices. A kernel skips the sizes that its tile does not divide, "
        "and needs at least five that it takes.",
        "elements",
        f"list of {SIMULATED}",
    )
    held_out: Simulated = setting(
        "The size that the exact extrapolation does not see and must predict. A kernel that does "
        "not take it holds out the largest size that it takes.",
        "elements",
        "one of counting.sizes",
    )
    per_fma_base: Simulated = setting(
        "The size whose counts per multiply-add the simple extrapolation keeps. A kernel that does "
        "not take it starts from the smallest size that it takes.",
        "elements",
        "one of counting.sizes, not held_out",
    )
    seed: Annotated[Whole, Field(ge=0, le=LARGEST_SEED)] = setting(
        "Seed of the random matrices A and B. Counts do not depend on it, rounding errors do.",
        "1",
        f"0 to {LARGEST_SEED}",
    )
    wavefronts: Literal["lecture", "hardware"] = setting(
        "How wavefronts of shared memory are counted: in the phases of the lecture, or as measured "
        "counters show (docs/MODEL.md, section 1).",
        "1",
        "lecture or hardware",
    )


class Hazards(Section):
    """The kernel with tiles in shared memory, with each of its barriers left out in turn."""

    sizes: Sizes[Simulated] = setting(
        "Sizes n at which hazards are counted.",
        "elements",
        f"list of {SIMULATED} that the kernel takes",
    )


class Extrapolation(Section):
    """Where counts are carried to, and times predicted."""

    sizes: Sizes[Extrapolated] = setting(
        "Sizes n of the square matrices.",
        "elements",
        f"list of {EXTRAPOLATED}, multiples of the step between counting.sizes",
    )


class Lecture10(Section):
    """What the tables and figures of lecture 10 single out."""

    gpu: str = setting("GPU of the figures that show one GPU.", "GPU id", "one of gpus")
    shown_gpus: Ids = setting(
        "GPUs of the figures that are readable for a few: roofline and occupancy.",
        "GPU ids",
        "list, each one of gpus",
    )
    small_n: Simulated = setting(
        "Size at which exact counts and hazards are shown. A kernel that does not take it is shown "
        "at the next size that it takes.",
        "elements",
        "one of counting.sizes and of hazards.sizes",
    )
    second_n: Simulated = setting(
        "Size that is compared with small_n, per multiply-add; for a kernel that does not take "
        "them, the next sizes that it takes.",
        "elements",
        "one of counting.sizes and of block_programs.sizes, not small_n",
    )
    large_n: Extrapolated = setting(
        "Size at which times are shown.", "elements", "one of extrapolation.sizes"
    )


class Config(Section):
    """All settings."""

    language: Literal["en", "zh", "both"] = setting(
        "Language of tables, figures and the reading copy: English, Chinese, or both side by side "
        "(`roofline.svg` and `roofline.zh.svg`). Numbers in csv files have none.",
        "1",
        "en, zh or both",
    )
    gpus: Ids = setting(
        "GPUs to predict, in the order in which they are shown.",
        "GPU ids",
        "list of file names in data/gpus, without .yaml",
    )
    kernels: dict[Any, Any] = setting(
        "Kernels to count, each with its compile-time options. An empty entry takes the defaults, "
        "false leaves the kernel out.",
        "kernel id: options",
        "the kernels and options listed below",
    )
    own_kernels: Annotated[dict[Any, Any], BeforeValidator(_or_nothing)] = setting(
        "Kernels of your own, see docs/OWN_KERNELS.md. false leaves a kernel out.",
        "kernel id: keys",
        "the keys listed below; may be left out",
        default_factory=dict,
    )
    own_cuda: Annotated[dict[Any, Any], BeforeValidator(_or_nothing)] = setting(
        "Compiled kernels of your own, see docs/COMPILED.md. false leaves a kernel out.",
        "kernel id: keys",
        "the keys listed below; may be left out",
        default_factory=dict,
    )
    counting: Counting
    hazards: Hazards
    extrapolation: Extrapolation
    tile_order: TileOrder
    compiled: Compiled
    replay: Replay
    sweeps: Sweeps
    block_programs: BlockPrograms
    lecture10: Lecture10
    decode: Decode
    megakernel: Megakernel
    lecture11: Lecture11
