"""Changes of a scratch copy, each undone at the end of its block."""

import re
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager, nullcontext
from os import devnull, environ, utime


def nothing(scratch):
    """Change nothing: what is asked for by arguments."""
    return nullcontext()


def config(**sections):
    """Change sections of the configuration."""
    return lambda scratch: scratch.configured(**sections)


def edit(name, old, new):
    """Replace text of a file."""
    return lambda scratch: scratch.edited(name, old, new)


def value(name, key, new):
    """Give a figure of a sheet another value."""
    pattern = re.compile(rf'^("?{re.escape(key)}"?:\s*\{{?\s*value:) [^\s,]+', re.MULTILINE)

    def changed(text):
        assert len(pattern.findall(text)) == 1, f"{name} has no one {key}"
        return pattern.sub(rf"\1 {new}", text)

    return lambda scratch: scratch.rewritten(name, changed)


def capability(version, key, new):
    """Give a figure of a compute capability another value."""
    pattern = re.compile(rf'(^"{version}":$.*?^  {key}: {{value: )\d+', re.MULTILINE | re.DOTALL)

    def changed(text):
        return pattern.sub(rf"\g<1>{new}", text, count=1)

    return lambda scratch: scratch.rewritten("data/compute_capabilities.yaml", changed)


def statement(name):
    """Add a statement to a module."""
    return lambda scratch: scratch.rewritten(name, lambda text: f"{text}\nANOTHER = 1\n")


def line(name, text):
    """Add a line to the end of a file."""
    return lambda scratch: scratch.rewritten(name, lambda before: f"{before}{text}\n")


def together(*changes):
    """Make several changes."""

    @contextmanager
    def changed(scratch):
        with ExitStack() as stack:
            for change in changes:
                stack.enter_context(change(scratch))
            yield

    return changed


def new(name, text="", like=None, old="", instead=""):
    """Add a file, with a text or like another one with one thing replaced."""

    @contextmanager
    def changed(scratch):
        path = scratch.folder / name
        content = scratch.text(like).replace(old, instead) if like else text
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        yield
        path.unlink()
        for folder in path.relative_to(scratch.folder).parents:
            if not any((scratch.folder / folder).iterdir()):
                (scratch.folder / folder).rmdir()

    return changed


def everywhere(pattern, change):
    """Change the text of all files of a pattern."""

    @contextmanager
    def changed(scratch):
        paths = sorted(scratch.folder.glob(pattern))
        before = {path: path.read_text(encoding="utf-8") for path in paths}
        assert before
        try:
            for path, text in before.items():
                path.write_text(change(text), encoding="utf-8")
            yield
        finally:
            for path, text in before.items():
                path.write_text(text, encoding="utf-8")

    return changed


def said_otherwise(text):
    """Change docstring and comments of a module, and nothing else of it."""
    lines = text.rstrip("\n").splitlines()
    lines[0] = lines[0].replace('"""', '"""Said otherwise: ', 1)
    return "\n".join([*lines, "# a comment", ""])


def laid_out_otherwise(text):
    """Give a module more empty lines."""
    return text.replace("\n\n\n", "\n\n\n\n\n") + "\n\n"


@contextmanager
def touched(scratch):
    """Give all files the time of now, as a copy without time stamps does."""
    now = time.time()
    for path in scratch.folder.rglob("*"):
        if ".snakemake" not in path.relative_to(scratch.folder).parts[:1]:
            utime(path, (now, now))
    yield


@contextmanager
def without_records(scratch):
    """Lose what Snakemake knows of the results that there are."""
    records = scratch.folder / ".snakemake"
    put_away = records.rename(scratch.folder.parent / "records")
    try:
        yield
    finally:
        shutil.rmtree(records, ignore_errors=True)
        put_away.rename(records)


@contextmanager
def another_branch_and_back(scratch):
    """Check out a branch on which code, settings and data are others, and this one again."""

    def git(*arguments):
        author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        alone = environ | {"GIT_CONFIG_GLOBAL": devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *author, *arguments], cwd=scratch.folder, env=alone, check=True)

    try:
        git("init", "--quiet", "--initial-branch=one")
        exclude = scratch.folder / ".git/info/exclude"
        exclude.write_text("__pycache__\n/results\n/.snakemake\n/logs\n")
        git("add", ".")
        git("commit", "--quiet", "--message=one")
        git("checkout", "--quiet", "-b", "other")
        for name in ("pipeline/store.py", "workflow/scripts/gpus.py", "workflow/rules/sm.smk"):
            (scratch.folder / name).write_text(scratch.text(name) + "\nANOTHER = 1\n")
        for name in ("data/gpus/h100_sxm.yaml", "data/measured/sgemm_ladder.csv"):
            (scratch.folder / name).write_text("# a comment\n" + scratch.text(name))
        git("commit", "--quiet", "--all", "--message=other")
        git("checkout", "--quiet", "one")
        yield
    finally:
        shutil.rmtree(scratch.folder / ".git")


def installed(name, version):
    """Let a library be installed in another version."""
    return new(
        f"{name}-{version}.dist-info/METADATA",
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    )
