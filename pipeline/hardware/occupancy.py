"""How many blocks of a launch are resident on one SM, and what keeps another one out.

An SM takes in blocks until one of four things runs out. The rules are those of NVIDIA's own
occupancy calculator (CUDA toolkit 13.0, ``cuda_occupancy.h``); the functions named below are its.
The limits and units are figures of the GPU, from the table of compute capabilities.

warps
    A block takes whole warps, and the SM has a fixed number of slots for them. A block with more
    threads than a block may have does not fit at all. (``cudaOccMaxBlocksPerSMWarpsLimit``)
registers
    A warp takes the registers of its 32 threads, rounded up to an allocation unit. Each of the
    four sub-partitions of an SM owns a quarter of the register file, and a warp lives in one of
    them: the SM holds four times the warps that fit into a quarter, which can be fewer than fit
    into the whole. A block is also checked against the registers that a block may hold, and that
    check rounds its warps up to a multiple of four. (``cudaOccMaxBlocksPerSMRegsLimit``)
shared
    A block takes the shared memory it asks for plus what the driver reserves for each block (1 KiB
    from compute capability 8.0 on), rounded up to an allocation unit. A block that asks for more
    than a block may have, the opt-in maximum, does not fit. (``cudaOccMaxBlocksPerSMSmemLimit``)
blocks
    The SM has a fixed number of slots for blocks. (``cudaOccMaxBlocksPerMultiprocessor``)

The fewest of the four is the answer, and every limit equal to it is named, also where it is none.
No registers, or no shared memory and no reserve, set no limit.

A GPU that lacks an instruction of a kernel holds no block of it, limited by ``capability``.

A thread may hold 255 registers, as the instruction set and the programming guide say; more gives no
block, limited by registers. (The calculator lets 256 pass, which no compiler emits.) Carve-outs
smaller than the largest, block barriers and clusters are not modelled.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from pipeline.errors import ModelError
from pipeline.vocab.occupancy import LAUNCH_FACTS, OCCUPANCY, RESIDENCY
from pipeline.vocab.variable import annotate

LIMITS = ("warps", "registers", "shared", "blocks")

CAPABILITY = "capability"
"""What ``limited_by`` says of a GPU that lacks an instruction."""

# As wide as the calculator's own integers.
_NO_LIMIT = np.iinfo(np.int32).max


class _Figures(NamedTuple):
    """What of a GPU decides how many blocks it holds: arrays that broadcast with the launches."""

    warp_size: np.ndarray
    max_threads_per_block: np.ndarray
    max_warps_per_sm: np.ndarray
    max_blocks_per_sm: np.ndarray
    registers_per_sm: np.ndarray
    registers_per_block_max: np.ndarray
    registers_per_thread_max: np.ndarray
    register_allocation_unit: np.ndarray
    warp_allocation_unit: np.ndarray
    smem_per_sm: np.ndarray
    smem_per_block_max: np.ndarray
    smem_reserved_per_block: np.ndarray
    smem_allocation_unit: np.ndarray


OCCUPANCY_FIGURES: tuple[str, ...] = _Figures._fields
"""The variables of the ``gpus`` store that :func:`occupancy` reads, and no others."""


def occupancy(
    threads: int | np.ndarray | xr.DataArray,
    registers: int | np.ndarray | xr.DataArray,
    smem_bytes: int | np.ndarray | xr.DataArray,
    gpu: xr.Dataset,
) -> xr.Dataset:
    """Count the resident blocks of launches on GPUs, in one broadcast.

    The rules stand at the head of this module, with their source.

    Parameters
    ----------
    threads : (...)
        Threads per block, at least 1.
    registers : (...)
        32-bit registers per thread; 0 sets no limit.
    smem_bytes : (...)
        Shared memory per block in B; 0 asks for none.
    gpu : (gpu) or ()
        Dataset with the variables :data:`OCCUPANCY_FIGURES`. Arrays may be lazy, and the result
        then is; plain numpy arrays of one shape are taken element by element.

    Returns
    -------
    xarray.Dataset
        (..., gpu): ``blocks_per_sm``, ``warps_per_sm``, ``occupancy`` (resident warps as a share of
        the most an SM can hold) and ``limited_by``, names out of ``warps registers shared blocks``
        in this order, separated by blanks. A launch that does not fit at all, more threads than a
        block may have among them, has 0 blocks and names what forbids it.

    Raises
    ------
    ModelError
        If there are no threads, a number is negative, beyond 32 bits or not whole, coordinates of
        the arguments differ, or ``gpu`` lacks a figure.
    """
    missing = [name for name in OCCUPANCY_FIGURES if name not in gpu]
    if missing:
        raise ModelError(
            f"the GPU dataset lacks {', '.join(missing)}; occupancy needs all of OCCUPANCY_FIGURES"
        )
    launch = [
        _whole(threads, "threads per block"),
        _whole(registers, "registers per thread"),
        _whole(smem_bytes, "shared memory per block"),
    ]
    figures = [gpu[name] for name in OCCUPANCY_FIGURES]
    try:
        # An inner join would drop points without a word.
        xr.align(*launch, *figures, join="exact", copy=False)
    except ValueError as error:
        raise ModelError(f"launches and GPUs do not share their coordinates: {error}") from None
    blocks, warps, reasons = xr.apply_ufunc(
        _resident,
        *launch,
        *figures,
        output_core_dims=[[], [], []],
        output_dtypes=[np.int64] * 3,
        dask="parallelized",
    )
    result = xr.Dataset(
        {
            "blocks_per_sm": blocks,
            "warps_per_sm": warps,
            "occupancy": warps / gpu["max_warps_per_sm"],
            "limited_by": xr.apply_ufunc(
                _names, reasons, output_dtypes=[_REASONS.dtype], dask="parallelized"
            ),
        }
    )
    for name, meaning in RESIDENCY.items():
        result[name].attrs = meaning.attrs
    return result


def block_limits(threads: int, registers: int, smem_bytes: int, gpu: xr.Dataset) -> dict[str, int]:
    """Say how many blocks of one launch each limit alone allows on an SM, as profilers list them.

    Parameters
    ----------
    threads, registers, smem_bytes
        As in :func:`occupancy`, one number each.
    gpu : ()
        One GPU.

    Returns
    -------
    dict
        Blocks by the names in ``limited_by``; the fewest of them is ``blocks_per_sm``.
    """
    figures = _Figures(*(gpu[name].to_numpy() for name in OCCUPANCY_FIGURES))
    launch = np.array([threads, registers, smem_bytes], np.int64)
    return dict(
        zip(LIMITS, map(int, _limits(launch[0], launch[1], launch[2], figures)), strict=True)
    )


def ladder_occupancy(launches: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Make the store ``occupancy``: every kernel of the ladder on every GPU.

    Parameters
    ----------
    launches : (kernel)
        The launch facts of the vocabulary, with whatever coordinates name the kernels.
    gpus : (gpu)
        The GPUs; :data:`OCCUPANCY_FIGURES` are read, and the coordinate ``compute_capability``.

    Returns
    -------
    xarray.Dataset
        (kernel, gpu): what :func:`occupancy` gives, and the launch facts over (kernel).

    Raises
    ------
    ModelError
        As :func:`occupancy`, or if ``launches`` lacks a launch fact or ``gpus`` their compute
        capabilities.
    """
    missing = [name for name in LAUNCH_FACTS if name not in launches]
    if missing:
        raise ModelError(f"the launches lack {', '.join(missing)}")
    if "compute_capability" not in gpus:
        raise ModelError("the GPU dataset lacks compute_capability")
    facts = launches[list(LAUNCH_FACTS)]
    resident = occupancy(
        facts["threads_per_block"],
        facts["registers_per_thread"],
        facts["smem_bytes"],
        gpus.drop_vars("compute_capability"),
    )
    runs = facts["capability_min"] <= _capability_numbers(gpus["compute_capability"])
    for name in RESIDENCY:
        resident[name] = resident[name].where(runs, CAPABILITY if name == "limited_by" else 0)
    return annotate(facts.merge(resident), OCCUPANCY)


def _capability_numbers(capability: xr.DataArray) -> xr.DataArray:
    """Compute capabilities as ten times major plus minor, over (gpu)."""
    parts = [str(text).partition(".") for text in capability.to_numpy().tolist()]
    numbers = np.array([10 * int(major) + int(minor) for major, _, minor in parts], np.int64)
    return xr.DataArray(numbers, dims="gpu", coords={"gpu": capability["gpu"].to_numpy()})


def _whole(value: int | np.ndarray | xr.DataArray, what: str) -> xr.DataArray:
    """``value`` as an array of int64, if it holds whole numbers."""
    array = value if isinstance(value, xr.DataArray) else xr.DataArray(value)
    if array.dtype.kind not in "iu":
        raise ModelError(f"{what} must be whole numbers, not of type {array.dtype}")
    return array


def _resident(
    threads: np.ndarray, registers: np.ndarray, smem: np.ndarray, *figures: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Resident blocks, resident warps, and a bit for each limit that is reached."""
    _require(threads, 1, "threads per block")
    _require(registers, 0, "registers per thread")
    _require(smem, 0, "shared memory per block")
    threads, registers, smem = (np.asarray(a, np.int64) for a in (threads, registers, smem))
    gpu = _Figures(*figures)
    limits = np.broadcast_arrays(*_limits(threads, registers, smem, gpu))
    blocks = np.minimum.reduce(limits)
    reached = [(limit == blocks).astype(np.int64) << bit for bit, limit in enumerate(limits)]
    return blocks, blocks * _ceil_div(threads, gpu.warp_size), np.bitwise_or.reduce(reached)


def _limits(
    threads: np.ndarray, registers: np.ndarray, smem: np.ndarray, gpu: _Figures
) -> tuple[np.ndarray, ...]:
    """Blocks that each limit alone allows, in the order of ``LIMITS``."""
    warps = _ceil_div(threads, gpu.warp_size)
    return (
        np.where(threads > gpu.max_threads_per_block, 0, gpu.max_warps_per_sm // warps),
        _by_registers(registers, warps, gpu),
        _by_shared(smem, gpu),
        gpu.max_blocks_per_sm,
    )


def _by_registers(registers: np.ndarray, warps: np.ndarray, gpu: _Figures) -> np.ndarray:
    """Blocks that the register file holds."""
    parts = gpu.warp_allocation_unit
    per_warp = _round_up(registers * gpu.warp_size, gpu.register_allocation_unit)
    fit_in_part = gpu.registers_per_sm // parts // np.maximum(per_warp, 1)
    blocks = np.where(per_warp == 0, _NO_LIMIT, fit_in_part * parts // warps)
    forbidden = (registers > gpu.registers_per_thread_max) | (
        per_warp * _round_up(warps, parts) > gpu.registers_per_block_max
    )
    return np.where(forbidden, 0, blocks)


def _by_shared(smem: np.ndarray, gpu: _Figures) -> np.ndarray:
    """Blocks that the shared memory holds."""
    taken = _round_up(smem + gpu.smem_reserved_per_block, gpu.smem_allocation_unit)
    blocks = np.where(taken == 0, _NO_LIMIT, gpu.smem_per_sm // np.maximum(taken, 1))
    return np.where(taken > gpu.smem_per_block_max + gpu.smem_reserved_per_block, 0, blocks)


def _ceil_div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -(-a // b)


def _round_up(a: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return _ceil_div(a, unit) * unit


def _require(values: np.ndarray, least: int, what: str) -> None:
    """Refuse the first value below ``least`` or beyond 32 bits."""
    values = np.asarray(values)
    wrong = values[(values < least) | (values > _NO_LIMIT)]
    if wrong.size:
        raise ModelError(f"{what} is {wrong.flat[0]}; it must be from {least} to {_NO_LIMIT}")


def _names(reasons: np.ndarray) -> np.ndarray:
    """Put bits of limits into words."""
    return _REASONS[reasons]


_REASONS = np.array(
    [
        " ".join(name for bit, name in enumerate(LIMITS) if reasons >> bit & 1)
        for reasons in range(1 << len(LIMITS))
    ]
)
