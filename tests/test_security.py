"""What docs/TRUST.md says of the code: data stays data, wherever it comes from."""

import ast
import re

import pytest

from tests.mistakes.row import CHECKOUT

SOURCES = sorted(
    path
    for folder in ("pipeline", "workflow")
    for path in (CHECKOUT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)
WORKFLOW = [CHECKOUT / "Snakefile", *sorted((CHECKOUT / "workflow/rules").glob("*.smk"))]

# Modules that make objects of any kind out of bytes, unpack archives, or fetch something.
MODULES = {
    *("pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"),
    *("tarfile", "zipfile", "urllib.request", "http", "requests", "socket", "ftplib"),
}
CALLS = {"eval", "exec", "compile", "__import__", "exec_module", "system", "popen", "mktemp"}
UNSAFE_YAML = {"unsafe_load", "full_load", "load_all", "unsafe_load_all", "full_load_all"}
# Where code is run on purpose: kernels of the user's own, programs in the block language, scripts
# of jobs.
ALLOWED = {
    ("pipeline/user_file.py", "exec_module"),
    ("pipeline/block_programs/rewrite.py", "compile"),
    ("pipeline/compiled/toolchain.py", "subprocess"),
    ("workflow/warm_client.py", "socket"),
    ("workflow/warm_jobs.py", "socket"),
    ("workflow/warm_jobs.py", "subprocess"),
    ("workflow/warm_server.py", "compile"),
    ("workflow/warm_server.py", "exec"),
    ("workflow/warm_server.py", "socket"),
}


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def name_of(function):
    """The last two parts of what is called."""
    if isinstance(function, ast.Attribute):
        inner = function.value.id if isinstance(function.value, ast.Name) else ""
        return inner, function.attr
    return "", getattr(function, "id", "")


def called(node):
    """What is dangerous about a call."""
    owner, name = name_of(node.func)
    arguments = {word.arg: word.value for word in node.keywords}
    if name in CALLS and owner != "re":
        yield name
    if owner == "yaml" and (name == "load" or name in UNSAFE_YAML):
        yield f"yaml.{name}"
    yield from (word for word in ("shell", "allow_pickle") if word in arguments)


def dangers(text):
    """Everything in a source that could turn data into code."""
    for node in ast.walk(ast.parse(text)):
        for module in imported(node):
            if module in MODULES or module.partition(".")[0] in MODULES:
                yield module
            if module.partition(".")[0] == "subprocess":
                yield "subprocess"
        if isinstance(node, ast.Call):
            yield from called(node)


def test_sources__hold_nothing_that_turns_data_into_code():
    assert len(SOURCES) > 100
    found = {
        (path.relative_to(CHECKOUT).as_posix(), danger)
        for path in SOURCES
        for danger in dangers(path.read_text(encoding="utf-8"))
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    ("text", "danger"),
    [
        ("import pickle", "pickle"),
        ("from joblib import load", "joblib"),
        ("eval(config['x'])", "eval"),
        ("yaml.load(text, Loader)", "yaml.load"),
        ("yaml.unsafe_load(text)", "yaml.unsafe_load"),
        ("run(command, shell=True)", "shell"),
        ("np.load(path, allow_pickle=True)", "allow_pickle"),
        ("os.system(command)", "system"),
        ("import subprocess", "subprocess"),
        ("import urllib.request", "urllib.request"),
    ],
)
def test_dangers__are_found(text, danger):
    assert list(dangers(text)) == [danger]


@pytest.mark.parametrize("path", WORKFLOW, ids=lambda path: path.name)
def test_workflow__hands_no_value_to_a_shell(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^\s*(shell|run|notebook|wrapper)\s*:", text, re.MULTILINE)
    assert not re.search(r"\b(eval|exec|shell|popen|system|subprocess)\b\s*\(", text)


def test_compiler__is_called_without_a_shell():
    tree = ast.parse((CHECKOUT / "pipeline/compiled/toolchain.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    started = [node for node in calls if name_of(node.func)[0] == "subprocess"]
    assert started
    for node in started:
        assert isinstance(node.args[0], ast.Name)
        assert "shell" not in {word.arg for word in node.keywords}
