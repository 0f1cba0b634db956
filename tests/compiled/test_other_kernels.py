"""Kernels like those that other people write, run from their listings and held against numpy."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pipeline.compiled.count import count, depends_on_data
from pipeline.compiled.decode import decode
from pipeline.compiled.launch import Space, execute, prepare
from pipeline.listing_files import read_listing
from tests.compiled.renew import ARCHITECTURES, FURTHER

LISTINGS = Path(__file__).parent / "listings"
R = np.random.default_rng(3)
BEGINNING = R.bit_generator.state


def program(name, architecture):
    return decode(read_listing(LISTINGS / f"{name}_{architecture}.sass"))


def run(name, architecture, grid, block, *arguments, **more):
    return execute(prepare(program(name, architecture), grid, block, arguments, **more))


def normal(*shape):
    return R.standard_normal(shape, dtype=np.float32)


def integers(low, high, size, kind=np.int32):
    return R.integers(low, high, size).astype(kind)


def close(found, expected, tolerance=1e-5):
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape
    assert np.max(np.abs(found - expected) / (1 + np.abs(expected))) <= tolerance


def case_reduce_sum(a):
    x, out = normal(5000), np.zeros(1, np.float32)
    run("reduce_sum", a, 7, 256, x, out, 5000)
    close(out, [x.astype(float).sum()], 1e-4)


def case_transpose(a):
    x, out = normal(70, 45), np.zeros((45, 70), np.float32)
    run("transpose", a, (2, 3), (32, 8), x, out, 70, 45)
    close(out, x.T, 0)


def case_softmax(a):
    x = normal(13, 100)
    out, e = np.zeros_like(x), np.exp(x.astype(float))
    run("softmax", a, 4, 128, x, out, 13, 100)
    close(out, e / e.sum(1, keepdims=True))


def case_layernorm(a):
    x, gamma, beta = normal(5, 300), normal(300), normal(300)
    out, d = np.zeros_like(x), x.astype(float)
    run("layernorm", a, 5, 128, x, gamma, beta, out, 300, 1e-5)
    mean, var = d.mean(1, keepdims=True), d.var(1, keepdims=True)
    close(out, (d - mean) / np.sqrt(var + 1e-5) * gamma + beta)


def case_stencil(a):
    x = normal(33, 47)
    out, expected = np.zeros_like(x), x.copy()
    run("stencil", a, -(-33 * 47 // 128), 128, x, out, 33, 47)
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    expected[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + around)
    close(out, expected)


def case_histogram(a):
    data, bins = integers(0, 256, 9999, np.uint8), np.zeros(256, np.uint32)
    run("histogram", a, 5, 192, data, bins, 9999)
    close(bins, np.bincount(data, minlength=256), 0)


def case_scan(a):
    x, out, sums = integers(-9, 9, 1000), np.zeros(1000, np.int32), np.zeros(4, np.int32)
    run("scan", a, 4, 256, x, out, sums, 1000)
    blocks = [np.cumsum(x[first : first + 256]) for first in range(0, 1000, 256)]
    close(out, np.concatenate(blocks), 0)
    close(sums, [block[-1] for block in blocks], 0)


def case_half_axpy(a):
    x, y = normal(200, 2).astype(np.float16), normal(200, 2).astype(np.float16)
    before, largest = y.astype(float), np.zeros(200, np.float32)
    run("half_axpy", a, 2, 128, x, y, largest, 0.75, 200)
    v = (0.75 * x.astype(float) + before).astype(np.float16)
    v[v[:, 0] > v[:, 1]] *= np.float16(0.5)
    v = np.maximum(v, (x.astype(float) - before).astype(np.float16))
    close(y, v, 1e-3)
    product = (v[:, 0].astype(float) * v[:, 1].astype(float)).astype(np.float16)
    close(largest, v.astype(np.float32).max(1) + product, 1e-3)


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def divided(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def integer_results(x, y):
    """What the kernel computes, in Python's integers."""
    u, odd = x & 0xFFFFFFFF, y | 1
    v, r = odd & 0xFFFFFFFF, x * y
    wide = r & (1 << 64) - 1
    both = (u | v << 32).to_bytes(8, "little")
    a, b = u.to_bytes(4, "little"), v.to_bytes(4, "little")
    left = (v << 32 | u) << (y & 31) >> 32
    bytes_y = (y & 0xFFFFFFFF).to_bytes(4, "little")
    dot = sum(signed(p, 8) * signed(q, 8) for p, q in zip(a, bytes_y, strict=True))
    return [
        signed(divided(x, odd), 32), x - odd * divided(x, odd), u // v * 3, u % v, u.bit_count(),
        32 - v.bit_length(), int(f"{u:032b}"[::-1], 2), (u & -u).bit_length(), min(x, y) * 5,
        max(u, v), signed(abs(x), 32), x * y >> 32, u * v >> 32, r >> (u & 31), wide >> (v & 63),
        r << (u & 15), int.from_bytes([both[1], both[2], both[5], both[6]], "little"),
        left & 0xFFFFFFFF, (v << 32 | u) >> (x & 7) & 0xFFFFFFFF,
        abs(x - y) + u & 0xFFFFFFFF, signed(x, 16) * signed(y, 8), divided(r, 7),
        r - 1000003 * divided(r, 1000003),
        int.from_bytes(bytes((p + q) & 255 for p, q in zip(a, b, strict=True)), "little"),
        signed(dot + 3, 32), divided(r, odd), wide % v, r, int(r < u << 20),
        64 - wide.bit_length(), wide.bit_count(),
    ]  # fmt: skip


def case_integers(a):
    x, y = integers(-(2**31), 2**31, 300), integers(-(2**31), 2**31, 300)
    x[:5], y[:5] = [0, 1, -1, 2**31 - 1, -(2**31)], [1, -1, 0, -(2**31), 3]
    y[5:100] = integers(-20, 20, 95)
    expected = np.array(
        [[signed(one, 64) for one in integer_results(int(p), int(q))]
         for p, q in zip(x, y, strict=True)]
    ).T  # fmt: skip
    out = np.zeros(expected.shape, np.int64)
    run("integers", a, 3, 128, x, y, out, 300)
    np.testing.assert_array_equal(out, expected)


def case_mathematics(a):
    f, d = normal(300) * 3, normal(300)
    out = np.zeros(300, np.float32)
    run("mathematics", a, 3, 128, f, d, out, 300)
    x, y, size = f.astype(float), d.astype(float), abs(f).astype(float)
    r = np.sqrt(size) + 1 / np.sqrt(abs(y) + 1) + x / (abs(y) + 0.5)
    r += np.exp(-size) + np.log(abs(y) + 1) + np.sin(x) + np.cos(y) + np.tanh(x) + size**1.5
    r += np.floor(x) + np.ceil(y) + np.trunc(f * np.float32(3)) + np.rint(d * np.float32(3))
    r += np.fmod(x, float(np.float32(0.7))) + np.trunc(f * np.float32(100))
    r += np.trunc(abs(d * np.float32(100))) + np.trunc(f * np.float32(10))
    r += np.trunc(d * np.float32(1000)) + np.clip(x, 0, 1) + np.copysign(1, y)
    r += np.minimum(x, y) + x / 3 + np.vectorize(math.erf)(x) + np.cbrt(y)
    r += np.log2(size + 1) + np.exp2(y) + (x > y) + np.maximum(x - y, 0)
    # Thousands cancel in the sum: its rounding error is theirs.
    close(out, r, 1e-5)


def case_doubles(a):
    x, y = R.standard_normal(300), R.standard_normal(300)
    out = np.zeros(300)
    run("doubles", a, 3, 128, x, y, out, 300)
    r = x * y + 0.1 - y / (x * x + 1) + np.sqrt(x * x + y * y) + x.astype(np.float32)
    r += np.trunc(y * 10) + np.maximum(x, y) + np.floor(x) + np.exp(-x * x)
    close(out, np.where(r > 3, r - np.trunc(r * 8), r) + np.arange(300), 1e-13)


def collatz(value, place):
    count = 0
    while value != 1 and count <= 500:
        value = 3 * value + 1 if value % 2 else value // 2
        count += 1
    odd = count - 7 if place % 2 else count ^ 21
    return {0: count + 10, 1: count * 3, 3: odd}.get(count % 5, -count)


def case_collatz(a):
    start, steps = integers(1, 5000, 300, np.uint32), np.zeros(300, np.int32)
    run("collatz", a, 3, 128, start, steps, 300)
    close(steps, [collatz(int(v), i) for i, v in enumerate(start)], 0)


def case_compact(a):
    x, out, kept = normal(1000), np.zeros(1000, np.float32), np.zeros(1, np.int32)
    run("compact", a, 8, 128, x, out, kept, 1000)
    close(np.sort(out[: kept[0]]), np.sort(x[x > 0]), 0)


def case_bitonic(a):
    keys = integers(-999, 999, 1024)
    expected = np.sort(keys.reshape(2, 512), axis=1).ravel()
    run("bitonic", a, 2, 256, keys)
    close(keys, expected, 0)


def local_sum(v):
    mine, at = [v * k for k in range(16)], v & 15
    for k in range(8):
        mine[at] += k
        at = (at + mine[(at + 5) & 15]) & 15
    return sum(one ^ k for k, one in enumerate(mine))


def case_local_array(a):
    x, out = integers(-999, 999, 300), np.zeros(300, np.int32)
    run("local_array", a, 3, 128, x, out, 300)
    close(out, [local_sum(int(v)) for v in x], 0)


def case_mma(a):
    x, y = normal(32, 64).astype(np.float16), normal(64, 24).astype(np.float16)
    out = np.zeros((32, 24), np.float32)
    run("mma", a, (2, 3), 32, x, y, out, 24, 64)
    close(out, x.astype(float) @ y.astype(float))


def case_wmma_product(a):
    x, y = normal(32, 64).astype(np.float16), normal(64, 48).astype(np.float16)
    out = np.zeros((32, 48), np.float16)
    run("wmma_product", a, (2, 3), 32, x, y, out, 48, 64)
    close(out, x.astype(float) @ y.astype(float), 2e-2)


def case_dynamic(a):
    t = 105
    x, out, lock = normal(2 * t), np.zeros(2 * t, np.float32), np.zeros(1, np.int32)
    slots, wide = np.zeros(7, np.int32), np.zeros(1, np.uint64)
    run("dynamic", a, (1, 1, 2), (7, 5, 3), x, out, lock, slots, wide, dynamic_shared=4 * t)
    close(out, (x.reshape(2, t) * (np.arange(t) % 8 + 1))[:, ::-1].ravel())
    close(slots, [8, t - 1, 1 - t, 2**31 - 1, 0, 2 * t % 100, 2], 0)
    assert int(wide[0]) == 2 * sum(i << 20 for i in range(t))


def case_bytes(a):
    c, s = integers(-128, 128, (300, 4), np.int8), integers(-999, 999, (300, 2), np.int16)
    q = integers(-999, 999, (300, 4))
    pairs, out = np.zeros((300, 2), np.float32), np.zeros(300, np.int8)
    run("bytes", a, 3, 128, c, s, q, pairs, out, 300)
    b, h = c.astype(int), s.astype(int)
    close(pairs, np.stack([b[:, 0] * h[:, 0] + q[:, 0], b[:, 1] * h[:, 1] - q[:, 3]], 1), 0)
    close(out, (b[:, 2] + h[:, 1] + q[:, 1]).astype(np.int8), 0)


def case_function_call(a):
    x, out = normal(300) * np.float32(0.1), np.zeros(300, np.float32)
    run("function_call", a, 3, 128, x, out, 300)

    def iterated(v, times):
        for _ in range(times):
            v = v * v + 0.5
        return v

    close(out, [iterated(float(v), i % 5) + iterated(float(x[299 - i]), 3)
                for i, v in enumerate(x)])  # fmt: skip


def case_pointers(a):
    x, y, out = normal(30), normal(30), np.zeros(30, np.float32)
    run("pointers", a, 1, 32, x, y, out, 30)
    i, weights = np.arange(30), np.array([1, 2, 4, 8])
    read = np.where(i & 2, weights[i & 3], x[i & 3])
    close(out, np.where(i & 1, x * y, x + y) * read)


def case_recursion(a):
    out = np.zeros(30, np.int32)
    run("recursion", a, 1, 32, out, 30)
    close(out, [[0, 1, 1, 2, 3, 5, 8, 13, 21][i % 9] for i in range(30)], 0)


def case_tiles(a):
    x, total, largest = integers(-99, 99, 128), np.zeros(1, np.int32), np.zeros(8, np.int32)
    run("tiles", a, 2, 64, x, total, largest)
    close(total, [x.sum()], 0)
    close(largest, x.reshape(8, 16).max(axis=1), 0)


def case_packed(a):
    x, y = (integers(0, 2**32, 32, np.uint32) for _ in range(2))
    p, q = R.standard_normal((8, 4)), R.standard_normal((8, 4))
    out, product = np.zeros((5, 32), np.int32), np.zeros((8, 8))
    run("packed", a, 1, 32, x, y, out, p, q, product)
    close(product, p @ q.T + np.arange(8) % 2 + 1, 1e-14)

    def parts(words, kind):
        return words.view(kind).reshape(32, -1).astype(int)

    low = (parts(x, np.int16) * parts(y, np.int8)[:, :2]).sum(1) + 7
    high = (parts(x, np.uint16) * parts(y, np.uint8)[:, 2:]).sum(1) + 5
    bytes_x, bytes_y = parts(x, np.uint8), parts(y, np.uint8)
    packed = [
        np.abs(bytes_x - bytes_y).astype(np.uint8),
        np.maximum(parts(x, np.int16), parts(y, np.int16)).astype(np.int16),
        np.minimum(bytes_x, bytes_y).astype(np.uint8),
    ]
    words = [np.ascontiguousarray(one).view(np.int32)[:, 0] for one in packed]
    close(out, [low, high, *words], 0)


def case_checked(a):
    flag, x = np.ones(1, np.int32), integers(0, 9, 32)
    expected = x + 1
    run("checked", a, 1, 32, flag, x)
    close(x, expected, 0)


def case_turned(a):
    x = normal(45, 70)
    for stride in (32, 33):
        out = np.zeros((70, 45), np.float32)
        run("turned", a, (3, 2), (32, 8), x, out, 70, 45, stride, dynamic_shared=32 * 4 * stride)
        close(out, x.T, 0)


def case_jump_table(a):
    x, table, out = integers(-2, 12, 300), integers(-50, 99, 9), np.zeros(300, np.int32)
    run("jump_table", a, 3, 128, x, table, out, 300)
    t = [int(one) for one in table]
    ways = [
        lambda v, i: t[1], lambda v, i: t[i % 9] * 3, lambda v, i: v ^ t[3],
        lambda v, i: (t[i % 7] & 0xFFFFFFFF).bit_count(), lambda v, i: divided(int(x[5]), 7),
        lambda v, i: t[2] - 11 * divided(t[2], 11), lambda v, i: v * t[2],
        lambda v, i: min(v, t[6]), lambda v, i: v + t[8],
    ]  # fmt: skip
    expected = [ways[v](int(v), i) if 0 <= v <= 8 else -1 for i, v in enumerate(x)]
    close(out, expected, 0)


def case_generic_pointer(a):
    x = normal(256)
    for which in range(3):
        out = np.zeros(256, np.float32)
        run("generic_pointer", a, 2, 128, x, out, 256, which)
        i, at = np.arange(256), (np.arange(256) % 128 * 7 + which) % 8
        close(out, [x[i // 128 * 128 + at], x[(i + at) % 256], x[at]][which], 0)


def case_atomics(a):
    f, d, h = np.zeros(3, np.float32), np.zeros(1), np.zeros(2, np.float16)
    u, wide = np.array([2**32 - 1, 0], np.uint32), np.zeros(2, np.uint64)
    run("atomics", a, 2, 128, f, d, h, u, wide)
    close(f, [384, 128, 128], 0)
    close(d, [64], 0)
    close(h, [256, 256], 0)
    close(u, [2**32 - 256, -256 % 6], 0)
    close(wide, [7, 7 + 255], 0)


def case_gemm_update(a):
    x, y, z = normal(256, 40), normal(40, 128), normal(256, 128)
    expected = 1.5 * (x.astype(float) @ y) - 0.5 * z
    run("gemm_update", a, (1, 2), 256, 256, 128, 40, 1.5, x, y, -0.5, z)
    close(z, expected)


def case_hazards(a):
    x, out = normal(256), np.zeros(256, np.float32)
    run("hazards", a, 2, 128, x, out, 256, 0)
    close(out, x.reshape(2, 128)[:, ::-1].ravel(), 0)


def case_cooperative(a):
    n = 250
    x, out, found = integers(0, 100, n), np.zeros(n, np.int32), np.zeros(n + 1, np.int32)
    run("cooperative", a, 2, 128, x, out, found, n)
    whole = np.concatenate([x, np.zeros(6, np.int32)])
    tile, warp, lane = whole.reshape(-1, 8), whole.reshape(-1, 32) & 3, np.arange(8)
    votes = (tile > 90).any(1) + (((tile & 1) << lane).sum(1) << 20)
    of_tile = (tile.sum(1) * 4 + votes).repeat(8) + tile[:, lane ^ 3].ravel()
    same = (warp[:, :, None] == warp[:, None]).sum(2).ravel()
    close(out, (of_tile + same)[:n], 0)
    close(np.sort(found[1 : found[0] + 1]), np.sort(x[x % 3 == 0]), 0)


def case_producer(a):
    x, out = normal(4, 32), np.zeros((4, 32), np.float32)
    run("producer", a, 1, 64, x, out)
    close(out, 2 * x[:, ::-1], 0)


def below(exact, kind=float):
    """Return the largest real number that is not above a fraction."""
    near = kind(float(exact)) if kind is float else kind(int(exact))
    return float(near if Fraction(float(near)) <= exact else np.nextafter(near, kind(-np.inf)))


def above(exact):
    return -below(-exact)


def inside(exact, kind=float):
    return below(exact, kind) if exact > 0 else -below(-exact, kind)


def case_directed(a):
    x, y = R.standard_normal(200) * 10, R.standard_normal(200)
    out = np.zeros((13, 200))
    run("directed", a, 2, 128, x, y, out, 200)
    for i, (p, q) in enumerate(zip(map(Fraction, x), map(Fraction, y), strict=True)):
        root = Fraction(math.isqrt(int(abs(p) * 2**240)), 2**120)
        m, k = (Fraction(int(one.view(np.int64))) for one in (y[i], x[i]))
        assert out[:, i].tolist() == [
            below(p + q), above(p + q), inside(p + q), below(p * q), above(p * q), inside(p * q),
            below(p * q + 1), above(p * q + 1), above(p / q), below(root), inside(m), below(m),
            inside(k, np.float32),
        ]  # fmt: skip


def case_wide(a):
    x, y = (R.integers(-(2**63), 2**63, 150) for _ in range(2))
    out = np.zeros((4, 150), np.int64)
    run("wide", a, 1, 64, np.int64(150), x, y.view(np.uint64), out)
    for i, (p, q) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        u, v = q % 2**64, p % 2**64
        expected = [
            max(p, q), min(u, v), divided(p, q | 1) + (u << (p & 63)),
            u * v >> 64 ^ int(f"{u:064b}"[::-1], 2),
        ]  # fmt: skip
        assert out[:, i].tolist() == [signed(one, 64) for one in expected]


def case_tf32(a):
    x, y, out = normal(16, 8), normal(8, 8), np.zeros((16, 8), np.float32)
    run("tf32", a, 1, 32, x, y, out)
    p, q = (
        ((one.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
        for one in (x, y)
    )
    close(out, p.astype(float) @ q.astype(float), 1e-6)


def case_half_functions(a):
    n = 200
    x, y = normal(n, 2).astype(np.float16), normal(n, 2).astype(np.float16)
    out, sums = np.zeros((n, 2), np.float16), np.zeros(n, np.float32)
    scaled = np.zeros(n, ml_dtypes.bfloat16)
    run("half_functions", a, 2, 128, x, y, out, sums, scaled, n)
    p, q = x.astype(float), y.astype(float)
    r = (np.float16(p * q + 0.5).astype(float) + np.float16(p * p)).astype(np.float16)
    turned = r[:, 0] > r[:, 1]
    r[turned] = r[turned][:, ::-1]
    close(out, np.maximum(r, -y) + (x > y), 4e-3)
    close(sums, np.exp(p[:, 0]) + np.sqrt(abs(q[:, 0])) + 1 / (abs(q[:, 1]) + 1), 4e-3)
    close(scaled.astype(float), (sums + 1) * 0.25, 2e-2)


def interpreted(program, value, place):
    """What the small machine computes, in Python's integers."""
    stack, top, k = [0] * 8, 0, 0
    while k < len(program):
        u = value & 0xFFFFFFFF
        step = (int(program[k]) + place) % 10
        if step == 3:
            stack[top & 7], top = value, top + 1
        elif step == 4:
            top -= 1
            value = stack[top & 7]
        elif step == 8:
            k += value & 1
        else:
            value = {
                0: value + 3, 1: value * 5, 2: value ^ value >> 3, 5: ~value, 6: divided(value, 7),
                7: value - 1001 * divided(value, 1001), 9: u.bit_count() + 32 - u.bit_length(),
            }[step]  # fmt: skip
        value, k = signed(value, 32), k + 1
    return value


def case_interpreter(a):
    code, x = integers(0, 256, 60, np.uint8), integers(-(2**31), 2**31, 200)
    out = np.zeros(200, np.int32)
    run("interpreter", a, 2, 128, code, 60, x, out, 200)
    close(out, [interpreted(code, int(value), i) for i, value in enumerate(x)], 0)


def case_spmv(a):
    rows = 60
    first = np.concatenate([[0], np.cumsum(integers(0, 90, rows))]).astype(np.int32)
    columns, values, x = integers(0, 200, first[-1]), normal(first[-1]), normal(200)
    out, product = np.zeros(rows, np.float32), values.astype(float) * x[columns]
    run("spmv", a, 15, 128, rows, first, columns, values, x, out)
    close(out, [product[i:j].sum() for i, j in itertools.pairwise(first)])


def case_reductions(a):
    n = 300
    x, v, windows = normal(n), integers(-999, 999, n), np.zeros(n - 4, np.float32)
    extrema = np.array([-5000, 5000, 0, 0], np.int32)
    run("reductions", a, 3, 128, x, v, windows, extrema, n)
    close(windows, np.lib.stride_tricks.sliding_window_view(x, 5).max(axis=1), 0)
    part = v[: n - 4]
    close(extrema, [part.max(), part.min(), part.sum(), np.bitwise_xor.reduce(part)], 0)


CASES = {name[len("case_") :]: case for name, case in globals().items() if name[:5] == "case_"}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", CASES)
def test_kernel__computes_what_numpy_does(name, architecture):
    R.bit_generator.state = BEGINNING  # the numbers of a case do not depend on those run before
    CASES[name](architecture)


@pytest.mark.parametrize(
    ("name", "architecture"), [(name, one) for name, every in FURTHER.items() for one in every]
)
def test_kernel__computes_it_with_the_instructions_of_further_architectures(name, architecture):
    CASES[name](architecture)


def test_cases__cover_every_test_kernel():
    sources = {path.stem for path in (LISTINGS.parent / "kernels").glob("*.cu")}
    assert set(CASES) == sources


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(("stride", "wavefronts"), [(32, 32 * 32), (33, 32)])
def test_count__of_one_tile_is_that_by_hand(stride, wavefronts, architecture):
    """Eight warps with four rows each: 32 requests of 128 bytes in, out, and through the tile."""
    square = Space(4 * 32 * 32)
    arguments = (square, square, 32, 32, stride)
    code = program("turned", architecture)
    found = count(prepare(code, 1, (32, 8), arguments, dynamic_shared=32 * 4 * stride)).counters()
    assert found["gld_instr"] == found["gst_instr"] == 32
    assert found["gld_sectors"] == found["gst_sectors"] == 32 * 4
    assert found["sts_wavefronts"] == 32
    assert found["lds_wavefronts"] == wavefronts


@pytest.mark.parametrize("name", ["turned", "pointers", "recursion", "packed", "transpose"])
def test_count__knows_what_data_cannot_change(name):
    on_data = {"pointers"}
    for architecture in ARCHITECTURES:
        assert bool(depends_on_data(program(name, architecture))) == (name in on_data)


def test_count__of_guarded_copies_is_what_execution_counts():
    shape = 70, 45, 33
    code = program("turned", "sm_80")
    x, out = normal(45, 70), np.zeros((70, 45), np.float32)
    ran = execute(prepare(code, (3, 2), (32, 8), (x, out, *shape), dynamic_shared=4224))
    sizes = Space(x.nbytes), Space(out.nbytes)
    counted = count(prepare(code, (3, 2), (32, 8), (*sizes, *shape), dynamic_shared=4224))
    np.testing.assert_array_equal(counted.executed, ran.executed)
    np.testing.assert_array_equal(counted.accesses, ran.accesses)
