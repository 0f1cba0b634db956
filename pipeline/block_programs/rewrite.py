"""The few places where a program does not mean what Python does, rewritten.

``and``, ``or``, ``not`` and chained comparisons join blocks element by element; ``.to`` and its
like work on numbers too; ``assert`` holds in every program. Everything else is Python as it is, so
that lines and names in messages are those of the user's file.
"""

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from pipeline.block_programs import effects, elementwise
from pipeline.block_programs.arithmetic import is_number, logical, logical_not
from pipeline.block_programs.block import Block
from pipeline.block_programs.tensor import to_tensor
from pipeline.errors import KernelError

_MEMBERS = {"to", "cast", "dtype", "shape", "type", "value", "numel", "reshape", "broadcast_to"}


def both(first: Any, second: Callable[[], Any]) -> Any:
    """``and``: of blocks element by element, of numbers as Python does."""
    if isinstance(first, Block):
        return logical(np.logical_and, first, second(), "and")
    if not first:
        return first
    return second()


def either(first: Any, second: Callable[[], Any]) -> Any:
    """``or``: of blocks element by element, of numbers as Python does."""
    if isinstance(first, Block):
        return logical(np.logical_or, first, second(), "or")
    return first or second()


def neither(value: Any) -> Any:
    """``not``: of blocks element by element."""
    return logical_not(value) if isinstance(value, Block) else not value


def member(value: Any, name: str) -> Any:
    """Give an attribute, also of a number that is known beforehand; ``.value`` is what is known."""
    if name == "value" and not isinstance(value, Block) and not hasattr(value, "value"):
        return value
    return getattr(to_tensor(value) if is_number(value) else value, name)


def _extreme(pair: Callable[[Any, Any], Block], plain: Callable[..., Any]) -> Callable[..., Any]:
    def choose(*values: Any) -> Any:
        if not any(isinstance(value, Block) for value in values):
            return plain(*values)
        result = values[0]
        for value in values[1:]:
            result = pair(result, value)
        return result

    return choose


BUILTINS: dict[str, Any] = {
    "__both": both,
    "__either": either,
    "__neither": neither,
    "__member": member,
    "__assert": effects.device_assert,
    "range": effects.loop,
    "print": effects.device_print,
    "min": _extreme(elementwise.minimum, builtins.min),
    "max": _extreme(elementwise.maximum, builtins.max),
}
"""What names mean in a program unless its file says otherwise."""


class _Rewriter(ast.NodeTransformer):
    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        name = "__both" if isinstance(node.op, ast.And) else "__either"
        result = node.values[0]
        for value in node.values[1:]:
            result = _call(name, result, _later(value))
        return ast.copy_location(result, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return ast.copy_location(_call("__neither", node.operand), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        # Every operand is evaluated once: they become arguments of a function of all comparisons.
        names = [f"__operand{i}" for i in range(len(node.comparators) + 1)]
        reads = [ast.Name(name, ast.Load()) for name in names]
        pairs: list[ast.expr] = [
            ast.Compare(reads[i], [op], [reads[i + 1]]) for i, op in enumerate(node.ops)
        ]
        result = pairs[0]
        for pair in pairs[1:]:
            result = _call("__both", result, _later(pair))
        chain = ast.Call(_function(names, result), [node.left, *node.comparators], [])
        return ast.copy_location(chain, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr not in _MEMBERS or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(_call("__member", node.value, ast.Constant(node.attr)), node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        message = node.msg or ast.Constant("")
        return ast.copy_location(ast.Expr(_call("__assert", node.test, message)), node)


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _function(names: list[str], body: ast.expr) -> ast.Lambda:
    arguments = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)


def _later(value: ast.expr) -> ast.expr:
    return _function([], value)


def rewritten(function: FunctionType) -> CodeType:
    """Rewrite a program's source.

    Raises
    ------
    KernelError
        If there is no source to read, or it is no function of its own.
    """
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        raise KernelError(
            f"{function.__name__}: its source cannot be read; put it into a file"
        ) from None
    if function.__name__ == "<lambda>":
        raise KernelError(f"{function.__name__}: a program is a function that is written with def")
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise KernelError(f"{function.__name__}: a program is a function that is written with def")
    definition.decorator_list = []
    definition.returns = None
    every = definition.args
    for argument in (*every.posonlyargs, *every.args, *every.kwonlyargs):
        argument.annotation = None
    every.defaults = [ast.Constant(None) for _ in every.defaults]
    every.kw_defaults = [ast.Constant(None) if value else None for value in every.kw_defaults]
    tree = ast.fix_missing_locations(_Rewriter().visit(tree))
    code = compile(tree, function.__code__.co_filename, "exec")
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def namespace(function: FunctionType) -> dict[str, Any]:
    """Say what names in a program stand for: its file's, and what surrounds its definition."""
    captured = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    return {**BUILTINS, **function.__globals__, **captured}
