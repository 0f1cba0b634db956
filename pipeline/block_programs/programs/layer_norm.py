"""Layer norm of every row of a matrix, forward and backward."""

import numpy as np

from pipeline.block_programs import language as tl
from pipeline.block_programs import triton
from pipeline.block_programs.programs.program import Outcome, Program, Tiles, random, sectors

EPSILON = 1e-5


@triton.jit
def layer_norm(
    x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, rstd_ptr, columns, epsilon, BLOCK: tl.constexpr
):
    """Normalise one row, and keep its mean and inverse deviation for the way back."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + column, mask=inside)
    bias = tl.load(bias_ptr + column, mask=inside)
    tl.store(y_ptr + row * columns + column, centred * rstd * weight + bias, mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_backward(
    x_ptr, weight_ptr, grad_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, columns,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients of one row; those of weight and bias are added up by atomics."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    grad = tl.load(grad_ptr + row * columns + column, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(inside, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    scaled = grad * weight
    along = tl.sum(normal * scaled, axis=0) / columns
    dx = (scaled - tl.sum(scaled, axis=0) / columns - normal * along) * rstd
    tl.store(dx_ptr + row * columns + column, dx, mask=inside)
    tl.atomic_add(dweight_ptr + column, grad * normal, mask=inside)
    tl.atomic_add(dbias_ptr + column, grad, mask=inside)


def _normalised(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(wide.var(axis=1, keepdims=True) + EPSILON)
    return (wide - mean) * rstd, mean[:, 0], rstd[:, 0]


def run(n: int, generator: np.random.Generator, tiles: Tiles) -> Outcome:  # noqa: ARG001 -- a row is a block
    """Normalise each of n rows of n elements."""
    x, weight, bias = random(generator, n, n), random(generator, n), random(generator, n)
    y, mean, rstd = np.empty_like(x), np.empty(n, np.float32), np.empty(n, np.float32)
    launched = layer_norm[(n,)](
        x, weight, bias, y, mean, rstd, n, EPSILON, BLOCK=triton.next_power_of_2(n)
    )
    normal, right_mean, right_rstd = _normalised(x)
    return Outcome(
        launched,
        {"y": (y, normal * weight + bias), "mean": (mean, right_mean), "rstd": (rstd, right_rstd)},
    )


def run_backward(n: int, generator: np.random.Generator, tiles: Tiles) -> Outcome:  # noqa: ARG001
    """Take the gradients of n rows of n elements."""
    x, weight, grad = random(generator, n, n), random(generator, n), random(generator, n, n)
    normal, mean, rstd = _normalised(x)
    dx, dweight, dbias = np.empty_like(x), np.zeros(n, np.float32), np.zeros(n, np.float32)
    launched = layer_norm_backward[(n,)](
        x, weight, grad, mean.astype(np.float32), rstd.astype(np.float32), dx, dweight, dbias, n,
        BLOCK=triton.next_power_of_2(n),
    )  # fmt: skip
    scaled = grad.astype(np.float64) * weight
    along = (normal * scaled).mean(axis=1, keepdims=True)
    right = (scaled - scaled.mean(axis=1, keepdims=True) - normal * along) * rstd[:, None]
    return Outcome(
        launched,
        {
            "dx": (dx, right),
            "dweight": (dweight, (grad * normal).sum(axis=0)),
            "dbias": (dbias, grad.astype(np.float64).sum(axis=0)),
        },
    )


def expected(n: int, tiles: Tiles) -> dict[str, int]:  # noqa: ARG001
    """Count by hand: weight and bias are read again for every row; two numbers per row are kept."""
    return {
        "programs": n,
        "loads": 3 * n,
        "stores": 3 * n,
        "load_bytes": 12 * n * n,
        "store_bytes": 4 * n * n + 8 * n,
        "load_sectors": 3 * n * sectors(n, 4),
        "store_sectors": n * sectors(n, 4) + 2 * n,
        "dot_flops": 0,
    }


def expected_backward(n: int, tiles: Tiles) -> dict[str, int]:  # noqa: ARG001
    """Count by hand: every row adds to all elements of two vectors."""
    return {
        "programs": n,
        "loads": 5 * n,
        "stores": n,
        "atomics": 2 * n,
        "load_bytes": 12 * n * n + 8 * n,
        "store_bytes": 4 * n * n,
        "atomic_bytes": 8 * n * n,
        "load_sectors": 3 * n * sectors(n, 4) + 2 * n,
        "store_sectors": n * sectors(n, 4),
        "atomic_sectors": 2 * n * sectors(n, 4),
        "dot_flops": 0,
    }


PROGRAM = Program("layer_norm", "layer norm", run, expected)
BACKWARD = Program("layer_norm_backward", "layer norm, backward", run_backward, expected_backward)
