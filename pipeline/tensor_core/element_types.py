"""Types of the elements that tensor cores multiply, as numpy knows them.

bf16 and the two fp8 types come from ``ml_dtypes``. tf32 has no numpy type: it is a float32 whose
last 13 bits are zero.
"""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.errors import ModelError

ELEMENT_TYPES: dict[str, np.dtype[Any]] = {
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "tf32": np.dtype(np.float32),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "fp8_e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
}
"""Name of an element type -> the numpy type that holds it."""

_TF32_DROPPED = np.uint32((1 << 13) - 1)
_TF32_HALF = np.uint32(1 << 12)


def to_tf32(values: ArrayLike) -> NDArray[np.float32]:
    """Round to tf32: 8 bits of exponent and 10 of fraction, to nearest, ties away from zero.

    That is ``cvt.rna.tf32.f32`` of the PTX ISA. Infinities and NaN stay what they are.

    Examples
    --------
    >>> float(to_tf32(1 + 2**-11)), float(to_tf32(1 + 2**-12))
    (1.0009765625, 1.0)
    """
    single = np.asarray(values, np.float32)
    bits = single.view(np.uint32)
    rounded = (bits + _TF32_HALF) & ~_TF32_DROPPED
    return np.where(np.isfinite(single), rounded.view(np.float32), single)


def require_elements(owner: str, values: NDArray[Any], allowed: tuple[str, ...]) -> None:
    """Refuse values of any other type.

    Parameters
    ----------
    owner
        Whose elements they are, for the message.
    values
        Any shape.
    allowed
        Names of element types.

    Raises
    ------
    ModelError
        If ``values`` have another numpy type, or are float32 that tf32 cannot hold.
    """
    if values.dtype not in [ELEMENT_TYPES[name] for name in allowed]:
        wanted = ", ".join(f"{name} (numpy {ELEMENT_TYPES[name]})" for name in allowed)
        raise ModelError(
            f"{owner}: given elements of numpy type {values.dtype}; allowed are {wanted}; "
            f"convert them with .astype(...), which rounds"
        )
    if values.dtype == np.float32 and np.any(
        np.isfinite(values) & (np.ascontiguousarray(values).view(np.uint32) & _TF32_DROPPED != 0)
    ):
        raise ModelError(
            f"{owner}: float32 values that tf32 cannot hold; round them with "
            f"pipeline.tensor_core.element_types.to_tf32 first"
        )
