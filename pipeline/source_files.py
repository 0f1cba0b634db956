"""What is read off the text of a source file: a digest of its code, its imports, its texts.

To parse hundreds of files takes seconds, at every start. So what was read is kept beside the
file's bytecode, under a seal over the file's content, this module and what was read: whatever of
them is different, the file is read again.
"""

import ast
import hashlib
import json
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

_ABSENT = ("None", "[]")


@dataclass(frozen=True)
class Source:
    """What a source file says.

    Attributes
    ----------
    digest
        SHA-256 of the syntax tree, in hexadecimal: comments, docstrings and layout do not change
        it, any other edit does.
    imports
        Every dotted name that an import in the file may refer to, anywhere in the file.
    texts
        String constants; of formatted strings, their fixed parts.
    """

    digest: str
    imports: list[str]
    texts: list[str]


def read(path: Path) -> Source:
    """Read what a source file says, or take what was kept of it.

    Parameters
    ----------
    path
        The file, in Python.

    Raises
    ------
    ValueError
        If it does not parse or imports relatively.
    """
    content = path.read_bytes()
    kept = Path(cache_from_source(str(path))).with_suffix(".source")
    try:
        seal, _, body = kept.read_bytes().partition(b"\n")
    except OSError:
        seal, body = b"", b""
    if seal == _seal(content, body):
        return Source(**json.loads(zlib.decompress(body)))
    source = _parsed(content, path.name)
    if not sys.dont_write_bytecode:
        body = zlib.compress(json.dumps(asdict(source)).encode())
        # A checkout that cannot be written to is read anew each time.
        with suppress(OSError):
            _keep(kept, _seal(content, body) + b"\n" + body)
    return source


def _seal(content: bytes, body: bytes) -> bytes:
    parts = (_reader(), content, body)
    total = b"".join(hashlib.sha256(part).digest() for part in parts)
    return hashlib.sha256(total).hexdigest().encode()


@cache
def _reader() -> bytes:
    return Path(__file__).read_bytes()


def _keep(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    path.parent.mkdir(exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    partial.replace(path)


def _parsed(content: bytes, name: str) -> Source:
    try:
        tree = ast.parse(content, filename=name)
    except SyntaxError as error:
        raise ValueError(
            f"code digest: {name}, line {error.lineno}: {error.msg}; mend the syntax first"
        ) from error
    digest = hashlib.sha256(_canonical(tree).encode()).hexdigest()
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = {value for value in constants if isinstance(value, str)}
    return Source(digest, sorted(set(_imports(tree, name))), sorted(texts))


def _imports(tree: ast.Module, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(
                    f"code digest: {name}, line {node.lineno}: relative import; "
                    f"write the module's full name"
                )
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _canonical(value: object) -> str:
    """Text of a syntax tree that only code changes.

    ``ast.dump`` would do, but it prints differently from one Python release to the next: empty
    fields come and go. Here fields that are empty or absent are left out.
    """
    if isinstance(value, ast.AST):
        fields = ((name, _canonical(field)) for name, field in ast.iter_fields(value))
        inside = (f"{name}={text}" for name, text in fields if text not in _ABSENT)
        return f"{type(value).__name__}({','.join(inside)})"
    if isinstance(value, list):
        return f"[{','.join(_canonical(item) for item in value if not _is_docstring(item))}]"
    return repr(value)


def _is_docstring(node: object) -> bool:
    """Whether a statement is a bare string: a docstring, which does nothing when it runs."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
