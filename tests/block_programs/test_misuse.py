"""Mistakes that people make: each ends in one message, with the line of the program."""

import re

import numpy as np
import pytest

import pipeline.block_programs.language as tl
import pipeline.block_programs.triton as triton
from pipeline.errors import KernelError, LaunchError, PaperGpuError, UnsupportedError


@triton.jit
def same(x):
    return x


@triton.jit
def mistaken(x_ptr, n, CASE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if CASE == "undefined name":
        tl.store(x_ptr, undefined)
    elif CASE == "unknown argument":
        tl.load(x_ptr, masks=True)
    elif CASE == "missing argument":
        tl.store(x_ptr)
    elif CASE == "wrong call":
        same(x, x)
    elif CASE == "item":
        x[0] = 1
    elif CASE == "own error":
        raise ValueError("boo")
    elif CASE == "endless":
        mistaken(x_ptr, n, CASE, B)
    elif CASE == "unknown function":
        tl.laod(x_ptr)
    elif CASE == "function of numpy":
        np.exp(x)
    elif CASE == "number of numpy":
        np.float32(2) * x
    elif CASE == "type of numpy":
        tl.zeros((4,), np.float32)
    elif CASE == "type as text":
        x.to("float32")
    elif CASE == "array":
        tl.store(x_ptr, np.zeros(3))
    elif CASE == "text":
        tl.store(x_ptr, "a")
    elif CASE == "nothing":
        x + None
    elif CASE == "tuple":
        x * (1, 2)
    elif CASE == "size":
        tl.zeros((n,), tl.float32)
    elif CASE == "half a number":
        tl.arange(0, 4.0)
    elif CASE == "half a round":
        for _ in range(n / 2):
            pass
    elif CASE == "print":
        print(x)
    elif CASE == "new axis":
        tl.expand_dims(x, 5)
    elif CASE == "unlike parts":
        tl.cat(x, tl.zeros((8,), tl.float32))
    elif CASE == "bits of a float":
        tl.atomic_xor(x_ptr, 1)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("undefined name", "NameError: name 'undefined' is not defined"),
        ("unknown argument", "unexpected keyword argument 'masks'"),
        ("missing argument", "missing 1 required positional argument: 'value'"),
        ("wrong call", "takes 1 positional argument but 2 were given"),
        ("item", "does not support item assignment"),
        ("own error", "ValueError: boo"),
        ("endless", "RecursionError"),
        ("unknown function", "tl.laod is not supported here"),
        ("function of numpy", "does not support ufuncs"),
        ("number of numpy", "an operation takes values and numbers, not float32"),
        ("type of numpy", "numpy.float32'> is no type of the language"),
        ("type as text", "'float32' is no type of the language, as tl.float32 is one"),
        ("array", "a conversion takes values and numbers, not ndarray"),
        ("text", "a conversion takes values and numbers, not str"),
        ("nothing", "an operation takes values and numbers, not NoneType"),
        ("tuple", "an operation takes values and numbers, not tuple"),
        ("size", r"the shape of a block must be known: given int32\[\]"),
        ("half a number", "arange takes whole numbers"),
        ("half a round", r"range takes whole numbers, not fp32\[\]"),
        ("print", r"print takes a text before its values: .*, not fp32\[4\]"),
        ("new axis", r"a block of shape \[4\] has no axis 5"),
        ("unlike parts", r"cat of \[4\] and \[8\]: shapes must agree"),
        ("bits of a float", "atomics of bits take integers, not fp32"),
    ],
)
def test_mistake__is_named_with_its_line(case, said):
    with pytest.raises(PaperGpuError, match=rf"^test_misuse.py:\d+: .*{said}"):
        mistaken[(2,)](np.zeros(4, np.float32), 2, case, 4)


def test_mistake__line_is_that_of_the_program_that_runs():
    with pytest.raises(KernelError) as raised:
        mistaken[(1,)](np.zeros(4, np.float32), 2, "undefined name", B=4)
    line = int(re.match(r"test_misuse.py:(\d+): ", str(raised.value))[1])
    start = mistaken.fn.__code__.co_firstlineno
    assert line == start + 5
    assert isinstance(raised.value.__cause__, NameError)


@triton.jit
def helper(x):
    return x + missing


@triton.jit
def helped(x_ptr):
    tl.store(x_ptr, helper(tl.load(x_ptr)))


def test_mistake__in_a_program_that_another_calls_has_its_own_line():
    line = helper.fn.__code__.co_firstlineno + 2
    with pytest.raises(KernelError, match=f"^test_misuse.py:{line}: NameError: name 'missing'"):
        helped[(1,)](np.zeros(1, np.float32))


@triton.jit
def copy(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


X, Y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: copy[(1,)](X.astype(">f4"), Y, 4, 4), LaunchError, "x_ptr: arrays of >f4 are not"),
        (
            lambda: copy[(1,)](np.zeros(17, np.uint8)[1:].view(np.float32), Y, 4, 4),
            LaunchError,
            "x_ptr: its memory is no whole number of elements",
        ),
        (lambda: triton.jit(lambda x: x)[(1,)](1), KernelError, "that is written with def"),
        (lambda: triton.heuristics({})(len), LaunchError, "write @triton.jit below @triton.heur"),
        (lambda: triton.autotune([], [])(len), LaunchError, "write @triton.jit below @triton.auto"),
        (lambda: triton.Config({}, warps=4), UnsupportedError, "Config: warps is not supported"),
        (lambda: triton.set_allocator(3), LaunchError, "set_allocator takes a function, not int"),
        (lambda: copy.warmup(X, Y, 4, 4, grid=(1,)), UnsupportedError, "warmup of a program"),
        (
            lambda: copy.run(X, Y, 4, 4, grid=(1,), warmup=True),
            UnsupportedError,
            "warmup=True is not supported",
        ),
    ],
)
def test_launch__says_what_is_wrong(call, error, said):
    with pytest.raises(error, match=said):
        call()
