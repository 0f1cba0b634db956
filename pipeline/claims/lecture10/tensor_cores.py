"""Fragments of the matrix instruction, and how they are loaded."""

import numpy as np
import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, between, claim, exactly
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import largest, pick
from pipeline.tensor_core.shapes import WARP
from pipeline.words import message

SHAPE = "m16n8k16"
"""The instruction of the lecture's tensor-core kernel."""


@claim(
    LECTURE,
    ("mma_fragments",),
    message(
        "One {shape} does {multiply_adds:,.0f} multiply-adds. Its lanes hold {a:.0f} elements of "
        "A, {b:.0f} of B and {c:.0f} sums each, and every element has exactly one owner."
    ),
)
def every_element_has_one_owner(fragments: xr.Dataset) -> Finding:
    """Count the places that the lanes of one instruction hold."""
    one = pick(fragments, shape=SHAPE)
    held = dict(zip("abc", one["elements"].sel(operand=list("ABC")).to_numpy(), strict=True))
    sides = (one["coordinate"].max(("lane", "element")) + 1).sel(operand=["A", "C"]).to_numpy()
    (rows, depth), (_, columns) = sides.tolist()
    owners = [len(np.unique(_places(one, operand), axis=0)) for operand in "ABC"]
    wanted = [rows * depth, depth * columns, rows * columns]
    return Finding(
        {
            "multiply_adds": exactly(rows * depth * columns, 2048),
            "owned": exactly(sum(owners) / sum(wanted), 1),
            "held": exactly(WARP * sum(held.values()) / sum(wanted), 1),
        },
        {"shape": SHAPE, **held},
    )


def _places(one: xr.Dataset, operand: str) -> np.ndarray:
    """Row and column of every element that a lane holds."""
    places = one["coordinate"].sel(operand=operand).stack(held=("lane", "element"))
    placed = places.transpose("held", "axis").to_numpy()
    return placed[(placed >= 0).all(axis=1)]


@claim(
    LECTURE,
    ("ldmatrix",),
    message(
        "Rows of {row} halves start in the same banks, so one ldmatrix takes {plain:.0f} "
        "wavefronts; an XOR swizzle spreads the same bytes and takes {swizzled:.0f}, with "
        "{extra:.0f} bytes wasted."
    ),
)
def swizzle_frees_ldmatrix(ldmatrix: xr.Dataset) -> Finding:
    """Compare plain and swizzled rows of the pictured width, at the worst place."""
    row = int(ldmatrix["pictured_row_elems"])
    one = pick(ldmatrix, row_elems=row)
    worst = one["wavefronts"].max(("row0", "col0"))
    return Finding(
        {
            "plain": exactly(float(worst.sel(layout="plain")), 32),
            "swizzled": exactly(float(worst.sel(layout="xor_swizzle")), 4),
            "extra": exactly(float(one["extra_bytes"].sel(layout="xor_swizzle")), 0),
        },
        {"row": row},
    )


@claim(
    LECTURE,
    ("ldmatrix",),
    message(
        "Padding frees ldmatrix of conflicts at every width ({padded:.0f} wavefronts) and wastes "
        "memory; the swizzle of the lecture wastes none and frees {freed:.0f} of {widths} widths."
    ),
)
def padding_frees_every_width(ldmatrix: xr.Dataset) -> Finding:
    """Compare padded and swizzled rows over all widths."""
    worst = ldmatrix["wavefronts"].max(("row0", "col0"))
    ideal = ldmatrix["ideal_wavefronts"].max(("row0", "col0"))
    freed = (worst == ideal).sum("row_elems")
    return Finding(
        {
            "padded": exactly(largest(worst.sel(layout="padded")), 4),
            "freed": between(float(freed.sel(layout="xor_swizzle")), 1, 8),
            "wasted": at_least(largest(ldmatrix["extra_bytes"].sel(layout="padded")), 1),
        },
        {"widths": ldmatrix.sizes["row_elems"]},
    )


CLAIMS: tuple[Claim, ...] = (
    every_element_has_one_owner,
    swizzle_frees_ldmatrix,
    padding_frees_every_width,
)
