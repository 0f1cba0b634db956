"""Python files of the user's own: what they define, read without running them, and loaded by path.

Such a file is not part of the package and need not be installed. It has to stand by itself: what it
imports from beside it would not be seen by the digest that decides whether results are up to date.
"""

import ast
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from inspect import Parameter, Signature
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from pipeline.counting.own_check import Functions
from pipeline.counting.own_cuda import UserFunction
from pipeline.errors import ConfigError, KernelError
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.sheets import small_text

CHECKOUT = Path(__file__).resolve().parent.parent
"""The project folder; paths of files are relative to it."""

_PACKAGE = "pipeline"
_DEEPEST = 150


@dataclass(frozen=True)
class Function:
    """A function as its ``def`` line declares it.

    Attributes
    ----------
    name, line
        Where it stands.
    required
        Parameters that may be given by position and have no default, in order.
    optional
        Parameters that may be given by position and have a default, in order.
    keywords
        Parameters that are given by name only, each with whether it must be.
    any_position, any_keyword
        Whether it takes ``*args`` and ``**options``.
    """

    name: str
    line: int
    required: tuple[str, ...]
    optional: tuple[str, ...]
    keywords: dict[str, bool]
    any_position: bool
    any_keyword: bool

    def __str__(self) -> str:
        """Write it as it is called."""
        names = [*self.required, *(f"{name}=..." for name in self.optional)]
        names += ["*args"] if self.any_position else []
        names += [name if must else f"{name}=..." for name, must in self.keywords.items()]
        names += ["**options"] if self.any_keyword else []
        return f"{self.name}({', '.join(names)})"


def declared(file: str, checkout: Path = CHECKOUT) -> dict[str, Function]:
    """List the functions at the top level of a file, without running it.

    Parameters
    ----------
    file
        Path, relative to ``checkout`` or absolute.
    checkout
        The project folder.

    Raises
    ------
    ConfigError
        If there is no such file, it is no Python, or it imports a file that lies beside it.
    """
    path = checkout / file
    tree = _parse(file, path)
    for line, name in _imports(tree):
        top = name.partition(".")[0]
        if top != _PACKAGE and any(_holds(folder, top) for folder in {path.parent, checkout}):
            raise ConfigError(
                f"line {line} imports {name!r} from beside it; the file must stand by itself, so "
                f"that a change of what it uses is noticed: copy what you need into it"
            )
    return {node.name: _function(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def load(kernel: OwnKernel, checkout: Path = CHECKOUT) -> Functions:
    """Run the file of a kernel and give its functions.

    Parameters
    ----------
    kernel
        Names the file and the functions.
    checkout
        The project folder.

    Raises
    ------
    KernelError
        If running the file raises an error.
    """
    located = partial(blame, file=kernel.file)
    try:
        module = _module(kernel.file, checkout)
        body = _named(
            getattr(module, kernel.kernel), declared(kernel.file, checkout)[kernel.kernel]
        )
        return Functions(body, getattr(module, kernel.specification), located)
    # A file that ends the run would pass for one that is right.
    except (Exception, SystemExit) as error:
        raise KernelError(
            f"{kernel.id} ({kernel.file}): {located(error)}, while the file was loaded"
        ) from error


def load_function(label: str, checkout: Path = CHECKOUT) -> UserFunction:
    """Run a file and give one of its functions.

    Parameters
    ----------
    label
        ``file.py:function``.
    checkout
        The project folder.

    Raises
    ------
    KernelError
        If running the file raises an error.
    """
    file, _, name = label.rpartition(":")
    located = partial(blame, file=file)
    try:
        body = getattr(_module(file, checkout), name)
    # As above.
    except (Exception, SystemExit) as error:
        raise KernelError(f"{label}: {located(error)}, while the file was loaded") from error
    there = declared(file, checkout)[name]
    return UserFunction(label, there.required, body, located)


def _module(file: str, checkout: Path) -> ModuleType:
    """Run a file as a module of its own.

    Raises
    ------
    KernelError
        If its name is not that of a Python file.
    """
    path = checkout / file
    if path.suffix != ".py":
        raise KernelError(f"{file} is no Python file; its name must end in .py")
    loader = _AsItIs(f"own_{path.stem}", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while it runs.
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


class _AsItIs(SourceFileLoader):
    """Takes a file as it is now, and leaves no bytecode beside it.

    Python would take bytecode for that of the file by its time and size, and an edit in the same
    second that keeps the size would go unseen.
    """

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self.get_data(self.path), self.path)


def _named(function: Callable[..., None], declared_as: Function) -> Callable[..., None]:
    """Let a function show the parameters of its ``def`` line, also behind a decorator."""

    def called(*args: Any, **options: Any) -> None:
        function(*args, **options)

    either, named = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    parameters = [
        *(Parameter(name, either) for name in declared_as.required),
        *(Parameter(name, either, default=...) for name in declared_as.optional),
        *([Parameter("args", Parameter.VAR_POSITIONAL)] if declared_as.any_position else []),
        *(
            Parameter(name, named, default=Parameter.empty if must else ...)
            for name, must in declared_as.keywords.items()
        ),
        *([Parameter("options", Parameter.VAR_KEYWORD)] if declared_as.any_keyword else []),
    ]
    called.__name__ = called.__qualname__ = declared_as.name
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return called


def blame(error: BaseException, file: str) -> str:
    """Name the last line of ``file`` that an error passed through, and the error in one line.

    An error that says nothing, such as that of a bare ``assert``, shows the line itself.
    """
    name = Path(file).name
    passed = list(traceback.extract_tb(error.__traceback__))
    theirs = [frame for frame in passed if Path(frame.filename).name == name]
    where = _place(theirs[-1]) if theirs else name
    what = " ".join(str(error).split())
    if not what:
        what = f"raised by `{theirs[-1].line}`" if theirs else "without a message"
    said = f"{where}: {type(error).__name__}: {what}"
    inside = theirs and _place(passed[-1]) != where
    return f"{said} (raised in {_place(passed[-1])})" if inside else said


def _place(frame: traceback.FrameSummary) -> str:
    return f"{Path(frame.filename).name}:{frame.lineno}"


def _parse(file: str, path: Path) -> ast.Module:
    if path.suffix != ".py":
        raise ConfigError(f"{file}: is no Python file; its name must end in .py")
    try:
        text = small_text.read_bytes(path)
    except ValueError as error:
        raise ConfigError(
            f"{error}; give a path relative to the project folder, or an absolute one"
        ) from None
    if b"\0" in text:
        raise ConfigError("is no Python file: it holds a null byte; save it as UTF-8 text")
    try:
        tree = ast.parse(text, filename=path.name)
    except SyntaxError as error:
        raise ConfigError(f"line {error.lineno}: {error.msg}") from None
    except ValueError as error:
        raise ConfigError(f"is no Python file ({error})") from None
    except (RecursionError, MemoryError):
        raise ConfigError("holds an expression that is nested too deeply; split it") from None
    _require_shallow(tree)
    return tree


def _require_shallow(tree: ast.Module) -> None:
    """Refuse what is nested more deeply than the digest of the code can follow."""
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        line = next((node.lineno for node in level if isinstance(node, ast.expr)), "?")
        raise ConfigError(f"line {line}: more than {_DEEPEST} levels of nesting; split it")


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every import in the file: its line and the module's name; ``.name`` where it is relative."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")


def _holds(folder: Path, name: str) -> bool:
    """Whether a module of this name lies in the folder; a relative import always means one."""
    return not name or (folder / f"{name}.py").is_file() or (folder / name).is_dir()


def _function(node: ast.FunctionDef) -> Function:
    given = node.args
    by_position = [one.arg for one in (*given.posonlyargs, *given.args)]
    first_default = len(by_position) - len(given.defaults)
    return Function(
        name=node.name,
        line=node.lineno,
        required=tuple(by_position[:first_default]),
        optional=tuple(by_position[first_default:]),
        keywords={
            one.arg: default is None
            for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        },
        any_position=given.vararg is not None,
        any_keyword=given.kwarg is not None,
    )
