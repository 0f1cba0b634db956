"""Files of the user's own: read without running them, and loaded from where they lie."""

import os
import sys
from dataclasses import replace

import pytest

from pipeline.counting.own_check import check
from pipeline.errors import ConfigError, KernelError
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.user_file import declared, load

TEXT = '''
"""Two functions."""
import math
import numpy as np
from pipeline.simt.block import Block

raise_when_run = 1 / 1

def kernel(blk, x, /, out, n, *, step, wide=True, **options):
    pass

def specification(x, axis=0, *rest):
    return x

class NotAFunction:
    def method(self): ...
'''


def kernel_of(file):
    return OwnKernel(
        "mine", file, "kernel", "specification", {"x": ("n",)}, {}, (1,), ("n",), (1,), 1, 0.0
    )


@pytest.fixture
def write(tmp_path):
    def write(text, name="mine.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    return write


def complaint(file, folder):
    with pytest.raises(ConfigError) as caught:
        declared(file, folder)
    return str(caught.value)


def test_declared__lists_functions_as_they_are_declared(write, tmp_path):
    found = declared(write(TEXT), tmp_path)
    assert list(found) == ["kernel", "specification"]
    kernel = found["kernel"]
    assert (kernel.line, kernel.required, kernel.optional) == (9, ("blk", "x", "out", "n"), ())
    assert kernel.keywords == {"step": True, "wide": False}
    assert (kernel.any_position, kernel.any_keyword) == (False, True)
    assert str(kernel) == "kernel(blk, x, out, n, step, wide=..., **options)"
    assert str(found["specification"]) == "specification(x, axis=..., *args)"


def test_declared__does_not_run_the_file(write, tmp_path):
    assert declared(write("1 / 0\ndef kernel(): ..."), tmp_path).keys() == {"kernel"}


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("def kernel(:\n", "mine.py", "line 1: "),
        ("x = 1\n", "mine.txt", "its name must end in .py"),
        ("x = 1\0", "mine.py", "it holds a null byte; save it as UTF-8 text"),
        ("import beside\n", "mine.py", "line 1 imports 'beside' from beside it"),
        ("\nfrom beside.deep import x\n", "mine.py", "line 2 imports 'beside.deep'"),
        ("def f():\n    import folder.inner\n", "mine.py", "line 2 imports 'folder.inner'"),
        ("from . import beside\n", "mine.py", "line 1 imports '.'"),
        ("from .beside import x\n", "inner/mine.py", "imports '.beside'"),
        ("import beside\n", "inner/mine.py", "imports 'beside'"),
    ],
)
def test_declared__says_what_is_wrong(write, tmp_path, text, name, said):
    write("", "beside.py")
    write("", "folder/inner.py")
    assert said in complaint(write(text, name), tmp_path)


def test_declared__names_what_cannot_be_read(tmp_path):
    (tmp_path / "folder.py").mkdir()
    assert "No such file" in complaint("missing.py", tmp_path)
    assert "Is a directory" in complaint("folder.py", tmp_path)


def test_load__gives_the_functions_of_a_file_that_is_nowhere_installed(write, tmp_path):
    text = "def kernel(blk, x, out, n): ...\ndef specification(x):\n    return x + 1\n"
    found = load(kernel_of(write(text, "deep/in/mine.py")), tmp_path)
    assert found.specification(1) == 2
    assert found.kernel.__name__ == "kernel"


@pytest.mark.parametrize("keeps_none", [False, True])
def test_load__takes_the_file_as_it_is_and_leaves_nothing(write, tmp_path, monkeypatch, keeps_none):
    monkeypatch.setattr(sys, "dont_write_bytecode", keeps_none)
    text = "def kernel(blk, x, out, n): ...\ndef specification(x):\n    return x + 1\n"
    for more in (1, 2):
        write(text.replace("+ 1", f"+ {more}"))
        # An edit in the same second, which keeps the size.
        os.utime(tmp_path / "mine.py", (0, 0))
        assert load(kernel_of("mine.py"), tmp_path).specification(1) == 1 + more
    assert [path.name for path in tmp_path.rglob("*")] == ["mine.py"]


def test_load__a_decorator_does_not_hide_the_names_of_the_arrays(write, tmp_path):
    text = """\
def noisy(function):
    def inner(*args, **options):
        return function(*args, **options)
    return inner
@noisy
def kernel(blk, x, out, n, times=1, *, more=0):
    blk.store(out, blk.tid, times * blk.load(x, blk.tid) + more)  # line 7
def specification(x):
    return 2 * x
"""
    kernel = replace(kernel_of(write(text)), block=(32,), tile=(32,), options={"times": 2})
    found = load(kernel, tmp_path)
    done = check(kernel, found, 32, 0)
    assert done.compulsory_bytes == 2 * 32 * 4
    assert (done.launched.loaded, done.launched.stored) == ({"x"}, {"out"})
    wrong = replace(kernel, options={"times": 3, "more": 1})
    with pytest.raises(
        KernelError, match=r"wrong result: out\[0\] is .* stored last at mine.py:7:"
    ):
        check(wrong, found, 32, 0)


def test_load__an_absolute_path_is_one(write, tmp_path):
    file = tmp_path / write("def kernel(): ...\ndef specification():\n    return 3\n")
    assert load(kernel_of(str(file)), tmp_path / "elsewhere").specification() == 3


def test_load__dataclasses_may_be_in_it(write, tmp_path):
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Tile:\n    rows: int = 3\n"
        "def kernel(): ...\ndef specification():\n    return Tile().rows\n"
    )
    assert load(kernel_of(write(text)), tmp_path).specification() == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ny = x / 0\n", "mine.py:2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(0)\n", "mine.py:2: SystemExit: 0"),
        ("def f(x):\n    assert x > 3\nf(1)\n", "mine.py:2: AssertionError: raised by `assert x"),
        ("x = 1\nraise RuntimeError\n", "mine.py:2: RuntimeError: raised by `raise RuntimeError`"),
        ("import no_such_module_anywhere\n", "mine.py:1: ModuleNotFoundError: "),
    ],
)
def test_load__an_error_names_kernel_file_and_line(write, tmp_path, text, said):
    with pytest.raises(KernelError) as caught:
        load(kernel_of(write(text)), tmp_path)
    assert str(caught.value).startswith(f"mine (mine.py): {said}")
    assert str(caught.value).endswith("while the file was loaded")
