"""Rules for compiled functions that no result of a test would show."""

import ast
from pathlib import Path

import pytest

import pipeline

FILES = [
    path
    for path in sorted(Path(pipeline.__file__).parent.rglob("*.py"))
    if "compiled" in path.read_text(encoding="utf-8")
]

COMPILED = {"compiled", "inlined"}


def compiled(tree):
    """Functions of a module that numba compiles."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and COMPILED & set(map(_name, node.decorator_list)):
            yield node


def _name(node):
    called = node.func if isinstance(node, ast.Call) else node
    return getattr(called, "id", getattr(called, "attr", None))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_compiled__sorts_with_no_sort_of_numba(path):
    """Its sort and argsort, compiled and stored by two processes, may take each other's parts."""
    for function in compiled(ast.parse(path.read_text(encoding="utf-8"))):
        used = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
        used |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        assert not used & {"sort", "argsort", "sorted", "median", "unique"}, function.name
