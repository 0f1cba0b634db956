"""Programs as people write them, against numpy: the shapes of loops, locks and types that occur."""

import numpy as np
import pytest

import pipeline.block_programs.language as tl
import pipeline.block_programs.triton as triton
from pipeline.block_programs.extra import libdevice
from pipeline.block_programs.tensor_descriptor import TensorDescriptor


def numbers(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@triton.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, NUM_SMS: tl.constexpr,
):  # fmt: skip
    start_pid = tl.program_id(axis=0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    k_tiles = tl.cdiv(K, BLOCK_K)
    num_tiles = tl.cdiv(M, BLOCK_M) * num_pid_n
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS, flatten=True):
        offs_am = (tile_id // num_pid_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_bn = (tile_id % num_pid_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_am = tl.where(offs_am < M, offs_am, 0)
        offs_bn = tl.where(offs_bn < N, offs_bn, 0)
        offs_am = tl.max_contiguous(tl.multiple_of(offs_am, BLOCK_M), BLOCK_M)
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for ki in range(k_tiles):
            offs_k = ki * BLOCK_K + tl.arange(0, BLOCK_K)
            a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
            b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
            a = tl.load(a_ptrs, mask=offs_k[None, :] < K, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K, other=0.0)
            accumulator = tl.dot(a, b, accumulator)
        offs_cm = (tile_id // num_pid_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_cn = (tile_id % num_pid_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
        c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
        tl.store(c_ptrs, accumulator, mask=c_mask)


def test_persistent_matmul__of_a_transposed_factor():
    a, b = numbers(0, 70, 40), numbers(1, 50, 40).T
    c = np.zeros((70, 50), np.float32)
    strides = [stride // 4 for x in (a, b, c) for stride in x.strides]
    launched = persistent_matmul[(5,)](
        a, b, c, 70, 50, 40, *strides, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, NUM_SMS=5, num_warps=8
    )
    np.testing.assert_allclose(c, a @ b, atol=1e-4)
    assert launched.counters["stores"] == 5 * 4
    assert launched.options == {"num_warps": 8}


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    across = tl.cdiv(n, BLOCK)
    rm = pid // across * BLOCK + tl.arange(0, BLOCK)
    rn = pid % across * BLOCK + tl.arange(0, BLOCK)
    rk = pid_k * BLOCK + tl.arange(0, BLOCK)
    A = a_ptr + rm[:, None] * n + rk[None, :]
    B = b_ptr + rk[:, None] * n + rn[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for _ in range(0, tl.cdiv(n, BLOCK * SPLIT)):
        acc += tl.dot(tl.load(A), tl.load(B))
        A += BLOCK * SPLIT
        B += BLOCK * SPLIT * n
    C = c_ptr + rm[:, None] * n + rn[None, :]
    if SPLIT == 1:
        tl.store(C, acc)
    else:
        tl.atomic_add(C, acc, sem="relaxed")


def test_split_k__sums_by_atomics_as_one_program_after_another():
    a, b = numbers(0, 64, 64), numbers(1, 64, 64)
    c = np.zeros((64, 64), np.float32)
    launched = split_k[lambda meta: (16, meta["SPLIT"])](a, b, c, 64, BLOCK=16, SPLIT=2)
    parts = [
        sum((a[:, k : k + 16] @ b[k : k + 16] for k in (half, half + 32)), np.zeros_like(c))
        for half in (0, 16)
    ]
    np.testing.assert_allclose(c, parts[0] + parts[1], atol=1e-5)
    assert launched.counters["atomic_bytes"] == 2 * 4 * 64 * 64
    assert launched.hazard_count == 0


@triton.jit
def locked_sums(x_ptr, total_ptr, lock_ptr, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0)
    lock_id = row % GROUPS
    Lock = lock_ptr + lock_id
    Count = Lock + GROUPS
    place = total_ptr + lock_id * n + cols
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        x += tl.load(place, mask=mask)
    tl.store(place, x, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


def test_locked_sums__each_program_sees_what_those_before_it_left():
    x = numbers(2, 24, 10)
    total, locks = np.zeros((4, 10), np.float32), np.zeros(8, np.int32)
    launched = locked_sums[(24,)](x, total, locks, 10, GROUPS=4, BLOCK=16)
    right = np.zeros_like(total)
    for row in range(24):
        right[row % 4] = x[row] + right[row % 4] if row >= 4 else x[row]
    np.testing.assert_array_equal(total, right)
    assert locks.tolist() == [0] * 4 + [1] * 4
    assert launched.hazard_count == 0


@triton.jit
def rows_in_turn(
    output_ptr, input_ptr, input_row_stride, output_row_stride, n_rows, n_cols,
    BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr,
):  # fmt: skip
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row_start_ptr = input_ptr + row_idx * input_row_stride
        col_offsets = tl.arange(0, BLOCK_SIZE)
        mask = col_offsets < n_cols
        row = tl.load(row_start_ptr + col_offsets, mask=mask, other=-float("inf"))
        numerator = tl.exp(row - tl.max(row, axis=0))
        softmax_output = numerator / tl.sum(numerator, axis=0)
        tl.store(output_ptr + row_idx * output_row_stride + col_offsets, softmax_output, mask=mask)


def test_rows_in_turn__programs_go_round_differently_often():
    x = numbers(3, 13, 20)
    out = np.zeros((13, 32), np.float32)[:, :20]
    rows_in_turn[(5,)](out, x, 20, 32, 13, 20, BLOCK_SIZE=32, num_stages=2)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def _gelu(x):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + libdevice.tanh(inner))


@triton.jit
def _apply(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "gelu":
        return _gelu(x)
    elif ACTIVATION == "silu":
        return x * tl.sigmoid(x)
    else:
        tl.static_assert(ACTIVATION is None)
        return x


@triton.jit
def activation(x_ptr, y_ptr, n, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask, 0.0).to(tl.float32)
    y = _apply(x, ACTIVATION)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("gelu", lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))),
        ("silu", lambda x: x / (1 + np.exp(-x))),
        (None, lambda x: x),
    ],
)
def test_activation__device_functions_and_a_choice_known_beforehand(name, function):
    x = numbers(4, 100, dtype=np.float16)
    y = np.zeros(100, np.float16)
    activation[(triton.cdiv(100, 32),)](x, y, 100, name, BLOCK=32)
    np.testing.assert_allclose(y, function(x.astype(np.float32)), atol=2e-3)


@triton.jit
def descriptor_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = a_desc.load([pid_m * BM, k])
        b = tl.load_tensor_descriptor(b_desc, [pid_n * BN, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([pid_m * BM, pid_n * BN], acc.to(tl.float16))


def test_descriptor_matmul__pads_and_cuts_at_the_edges():
    a, b = numbers(5, 20, 24, dtype=np.float16), numbers(6, 36, 24, dtype=np.float16)
    c = np.zeros((20, 36), np.float16)
    descriptor_matmul[(2, 3)](a, b, c, 20, 36, 24, BM=16, BN=16, BK=16)
    np.testing.assert_allclose(
        c, a.astype(np.float32) @ b.T.astype(np.float32), rtol=2e-3, atol=2e-3
    )


@triton.jit
def described_transpose(source, target, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK
    tl.static_assert(isinstance(source, tl.tensor_descriptor) and source.dtype == tl.float32)
    for j in range(0, source.shape[1], BLOCK):
        target.store([j, i], source.load([i, j]).T)


def test_described_transpose__descriptors_from_before_the_launch():
    x, y = numbers(6, 20, 30), np.zeros((30, 20), np.float32)
    source, target = (TensorDescriptor.from_tensor(array, [8, 8]) for array in (x, y))
    described_transpose[(3,)](source, target, BLOCK=8)
    np.testing.assert_array_equal(y, x.T)


@triton.jit
def typed_dot(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))


def test_dot__of_bytes_is_exact():
    a, b = (np.random.default_rng(s).integers(-128, 128, (32, 32), np.int8) for s in (0, 1))
    c = np.zeros((32, 32), np.int32)
    typed_dot[(1,)](a, b, c, BLOCK=32)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def as_bfloat16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def test_dot__of_brain_floats_sums_in_float32():
    a, b = as_bfloat16(numbers(7, 32, 32)), as_bfloat16(numbers(8, 32, 32))
    c = np.zeros((32, 32), np.float32)
    typed_dot[(1,)](
        triton.reinterpret(a, tl.bfloat16), triton.reinterpret(b, tl.bfloat16), c, BLOCK=32
    )
    wide_a, wide_b = ((x.astype(np.uint32) << 16).view(np.float32) for x in (a, b))
    np.testing.assert_allclose(c, wide_a @ wide_b, rtol=1e-4, atol=1e-5)


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row * n_cols
    target = tl.load(target_ptr + row)
    m = float("-inf")
    d = 0.0
    for i in range(0, n_cols, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < n_cols, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    picked = tl.load(logits_ptr + target)
    loss = m + tl.log(d) - picked
    if target == -1:
        loss = 0.0
    tl.store(loss_ptr + row, loss)


def test_cross_entropy__numbers_become_values_on_the_way():
    logits, targets = numbers(9, 7, 50), np.array([3, 0, 49, 7, 7, 1, 20])
    loss = np.zeros(7, np.float32)
    cross_entropy[(7,)](logits, targets, loss, 50, BLOCK=16)
    wide = logits.astype(np.float64)
    right = np.log(np.exp(wide).sum(1)) - wide[np.arange(7), targets]
    np.testing.assert_allclose(loss, right, rtol=1e-5)


@triton.jit
def rotary(x_ptr, cos_ptr, sin_ptr, n_head, HALF: tl.constexpr):
    token = tl.program_id(0)
    cos = tl.load(cos_ptr + token * HALF + tl.arange(0, HALF))
    sin = tl.load(sin_ptr + token * HALF + tl.arange(0, HALF))
    for head in range(n_head):
        first = x_ptr + (token * n_head + head) * 2 * HALF + tl.arange(0, HALF)
        second = first + HALF
        x1 = tl.load(first)
        x2 = tl.load(second)
        tl.store(first, x1 * cos - x2 * sin)
        tl.store(second, x2 * cos + x1 * sin)


def test_rotary__changes_an_array_in_place():
    x, angle = numbers(10, 6, 3, 2, 8), numbers(11, 6, 1, 8)
    first, second = x[:, :, 0], x[:, :, 1]
    cos, sin = np.cos(angle), np.sin(angle)
    right = np.stack([first * cos - second * sin, second * cos + first * sin], 2)
    rotary[(6,)](x, cos, sin, 3, HALF=8)
    np.testing.assert_allclose(x, right, rtol=1e-5, atol=1e-6)


@triton.jit
def sum_of_parts(out_ptrs, parts, n, B: tl.constexpr):
    """Add the arrays of a tuple, and count tiles as the host does."""
    first_ptr, tiles_ptr = out_ptrs
    (x_ptr, y_ptr), factor = parts
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(first_ptr + i, x + factor * tl.load(y_ptr + i, mask=i < n), mask=i < n)
    tl.store(tiles_ptr, triton.cdiv(n, B))


@pytest.mark.parametrize("n", [1, 9, 16, 17])
def test_sum_of_parts__tuples_hold_arrays_and_numbers(n):
    x, y = numbers(9, 2, n)
    total, tiles = np.zeros(n, np.float32), np.zeros(1, np.int32)
    launched = sum_of_parts[(triton.cdiv(n, 8),)]((total, tiles), ((x, y), 0.5), n, B=8)
    np.testing.assert_allclose(total, x + np.float32(0.5) * y)
    assert tiles[0] == -(-n // 8)
    assert launched.hazards == ()


@triton.jit
def scaled(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    odd = (i % 2).to(tl.int1)
    tl.store(y_ptr + i, tl.where(-odd, libdevice.llrint(FACTOR * x), libdevice.llround(x)))


FACTOR = 8 / np.sqrt(4)


def test_scaled__numbers_of_numpy_and_whole_numbers():
    x = np.array([0.5, 0.625, -2.5, 2.5, 3.25, -0.375, 7, 8], np.float32)
    y = np.zeros(8, np.int64)
    scaled[(1,)](x, y, 8)
    assert y.tolist() == [1, 2, -3, 10, 3, -2, 7, 32]
