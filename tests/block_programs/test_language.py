"""What is refused, what is not supported, and how programs may be written."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import pipeline.block_programs.language as tl
import pipeline.block_programs.triton as triton
from pipeline.block_programs import libdevice
from pipeline.errors import KernelError, LaunchError, UnsupportedError

GUIDE = Path(__file__).parents[2] / "docs/BLOCK_PROGRAMS.md"


@triton.jit
def choose(x_ptr, CASE: tl.constexpr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    if CASE == "unknown function":
        tl.dot_scaled(x, x)
    elif CASE == "unknown method":
        x.magic()
    elif CASE == "unknown math":
        tl.math.tanh(x)
    elif CASE == "exp of half":
        tl.exp(x.to(tl.float16))
    elif CASE == "no power of two":
        tl.arange(0, 3)
    elif CASE == "shape":
        tl.zeros((3, 4), tl.float32)
    elif CASE == "shapes":
        x[:, None] + tl.zeros((2, 2), tl.float32)
    elif CASE == "truth of a block":
        if x > 0:
            pass
    elif CASE == "float pointer":
        tl.load(x_ptr + x)
    elif CASE == "element":
        x[0]
    elif CASE == "signs":
        i.to(tl.uint32) // i
    elif CASE == "dot types":
        tl.dot(x[:, None] + x[None, :], (i[:, None] + i[None, :]).to(tl.int8))
    elif CASE == "two arguments":
        tl.static_assert(x.dtype == tl.int8, "only bytes")
    elif CASE == "power":
        x**2
    elif CASE == "assertion":
        assert tl.max(i) < 3, "too many"
    elif CASE == "not a pointer":
        tl.load(i)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("unknown function", "tl.dot_scaled is not supported here"),
        ("unknown method", "tensor.magic is not supported here"),
        ("unknown math", "tl.math.tanh is not supported here"),
        ("exp of half", r"exp takes fp32 or fp64, not fp16; use .to\(tl.float32\)"),
        ("no power of two", r"arange\(0, 3\): their difference must be a power of two"),
        ("shape", r"sizes of a block must be powers of two: given \[3, 4\]"),
        ("shapes", r"\+: shapes \(4, 1\) and \(2, 2\) do not fit together"),
        ("truth of a block", r"if and while takes a scalar, not a block of shape \[4\]"),
        ("float pointer", "a pointer moves by integers, not by fp32"),
        ("element", "a block is indexed with None and : only"),
        ("signs", "// of uint32 and int32: one has a sign and one has none"),
        ("dot types", "dot takes factors of one type, not fp32 and int8"),
        ("two arguments", "static_assert failed: only bytes"),
        ("power", "Triton has no power of values"),
        ("assertion", r"program \(0, 0, 0\): assertion failed: too many"),
        ("not a pointer", "load takes pointers, not int32"),
    ],
)
def test_program__is_refused_with_its_line(case, said):
    with pytest.raises((KernelError, UnsupportedError), match=said) as raised:
        choose[(2,)](np.zeros(4, np.float32), case)
    if isinstance(raised.value, KernelError):
        assert re.match(r"test_language.py:\d+: ", str(raised.value))


@triton.jit
def nothing(x, n):
    pass


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: nothing[(1,)](1), "nothing: missing a required argument: 'n'"),
        (lambda: nothing[(1,)](1, "a"), "n: an argument is a numpy array, a number, None"),
        (lambda: nothing[(1, 2, 3, 4)](1, 2), "a grid is one to three whole numbers"),
        (lambda: nothing[(1.5,)](1, 2), "a grid is one to three whole numbers"),
        (lambda: nothing[(1, 70000)](1, 2), "at most 65535 programs along y, not 70000"),
        (lambda: nothing[(1,)](np.zeros(3, complex), 2), "arrays of complex128 are not supported"),
        (lambda: choose[(1,)](np.zeros(4), CASE=np.zeros(3)), "CASE is constexpr and cannot be an"),
    ],
)
def test_launch__is_refused(call, said):
    with pytest.raises(LaunchError, match=said):
        call()


def test_function__outside_of_a_launch_is_refused():
    with pytest.raises(KernelError, match=r"tl.program_id works only inside a program"):
        tl.program_id(0)
    with pytest.raises(KernelError, match="nothing works only inside a program"):
        nothing(1, 2)


@pytest.mark.parametrize("name", ["testing", "compile"])
def test_triton__says_by_name_what_is_not_supported(name):
    with pytest.raises(UnsupportedError, match=rf"triton\.{name} is not supported here"):
        getattr(triton, name)
    assert not hasattr(triton, name)


def test_program__whose_source_cannot_be_read_is_refused():
    space = {"triton": triton}
    exec("def hidden():\n    pass\nhidden = triton.jit(hidden)", space)
    with pytest.raises(KernelError, match="hidden: its source cannot be read; put it into a file"):
        space["hidden"][(1,)]()


@triton.jit
def types(out_ptr, n, one, flag, nothing, pair, eps, wide: "i64", HALF: tl.constexpr = 2):
    tl.static_assert(n.dtype == tl.int32 and flag.dtype == tl.int1)
    tl.static_assert(one == 1 and one.to(tl.int64).dtype == tl.int64)
    tl.static_assert(nothing is None and not HALF.value == 3)
    tl.static_assert(eps.dtype == tl.float32 and wide.dtype == tl.int64)
    tl.static_assert(tl.program_id(0).dtype == tl.int32)
    tl.static_assert((n / n).dtype == tl.float32 and (n * 1.5).dtype == tl.float32)
    half = tl.zeros((4,), tl.float16)
    tl.static_assert((half * 2.5).dtype == tl.float16 and (half + eps).dtype == tl.float32)
    tl.static_assert((half / 2).dtype == tl.float32 and tl.max(half, 0).dtype == tl.float32)
    tl.static_assert(tl.sum(half, 0).dtype == tl.float16)
    tl.static_assert(half.shape[0] == 4 and len(half.shape + [2]) == 2)
    tl.static_assert(out_ptr.dtype.element_ty == tl.int64 and half.type.is_block())
    first, second = pair
    tl.store(out_ptr, n + first - second if flag else -1)


@pytest.mark.parametrize(("flag", "right"), [(True, 9 + 5 - 3), (False, -1)])
def test_arguments__have_tritons_types(flag, right):
    out = np.zeros(1, np.int64)
    types[(1,)](out, np.int64(9), 1, flag, None, (5, 3), 1e-5, 4)
    assert out[0] == right


@pytest.mark.parametrize("name", libdevice.NAMES)
def test_libdevice__has_what_it_lists(name):
    x = tl.to_tensor(1.5 if name == "acosh" else 0.5)
    function = getattr(libdevice, name)
    made = function(x, x) if name in libdevice.TWO else function(x)
    assert np.isfinite(made.data).all()


def test_libdevice__says_by_name_what_is_not_supported():
    with pytest.raises(UnsupportedError, match=r"libdevice\.j0 is not supported here"):
        libdevice.j0(1.0)


@triton.jit
def wide_reductions(x_ptr, y_ptr, DTYPE: tl.constexpr):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i).to(DTYPE)
    tl.store(y_ptr + i, x)
    tl.store(y_ptr + 8 + i, (x + x * x).to(tl.float32))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8e5", "float8e4nv"])
def test_narrow_floats__round_after_every_operation(dtype):
    x = np.array([0, 1, 1 / 3, -2.7, 0.001, 100.3, 5e-6, -0.0], np.float32)
    y = np.zeros(16, np.float32)
    wide_reductions[(1,)](x, y, getattr(tl, dtype))
    bits = {"bfloat16": 8, "float8e5": 3, "float8e4nv": 4}[dtype]
    assert np.abs(y[:6] / np.where(x[:6] == 0, 1, x[:6]) - (x[:6] != 0)).max() <= 2.0**-bits or (
        dtype == "float8e4nv"
    )
    again = np.zeros(16, np.float32)
    wide_reductions[(1,)](y[:8].copy(), again, getattr(tl, dtype))
    np.testing.assert_array_equal(again[:8], y[:8])


def test_guide__lists_exactly_what_there_is():
    text = GUIDE.read_text(encoding="utf-8")
    names = set(
        re.findall(r"`tl\.([a-z_0-9]+)`", text.split("## What is there")[1].split("##")[0], re.I)
    )
    assert names == set(tl.__all__)
    on_the_device = text.split("`libdevice`:")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z_0-9]+)`", on_the_device)) == set(libdevice.NAMES)


def test_guide__example_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(
        r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S
    )
    path = tmp_path / "example.py"
    path.write_text(example, encoding="utf-8")
    found = runpy.run_path(str(path))
    np.testing.assert_array_equal(found["y"], found["x"] * found["factor"][:, None])
    printed = capsys.readouterr().out.splitlines()
    said = re.findall(r"print\(.*\)  # (.*?)(?: \.\.\.| --.*)?$", example, re.M)
    assert [line.startswith(words) for line, words in zip(printed, said, strict=True)] == [True] * 2
