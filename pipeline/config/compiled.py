"""What ``config/config.yaml`` may hold about compiled code."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pipeline.config.section import Section, Whole, each_once, setting

LARGEST_N = 65536
"""As for ``extrapolation.sizes``: beyond it float64 does not hold every count."""

Architecture = Literal["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"]


class Compiled(Section):
    """Machine code of the ladder: for which architectures it is counted."""

    architectures: Annotated[
        tuple[Architecture, ...], Field(min_length=1), AfterValidator(each_once)
    ] = setting(
        "Architectures whose code is counted and predicted, on the GPUs that have them. The code "
        "has the default options of the kernels, whatever is set above.",
        "1",
        "list of sm_75, sm_80, sm_86, sm_89, sm_90, sm_120",
    )
    n: Annotated[Whole, Field(ge=1, le=LARGEST_N)] = setting(
        "Size n of the square matrices at which every instruction is shown; a kernel that does not "
        "take it is shown at the next size that it takes.",
        "elements",
        f"1 to {LARGEST_N}",
    )
