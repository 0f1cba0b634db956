"""Nothing reaches a result that its key does not see: no files but declared ones, no surroundings.

A key holds parameters, with the digest of the code, and the contents of declared inputs. What a job
read besides would be invisible to it, and a cached result would be silently wrong.
"""

import ast
import json
import re
from pathlib import PurePosixPath

import pytest

from pipeline import provenance
from tests.workflow.scratch import CHECKOUT, OPENED, OWN
from tests.workflow.test_rules import RULES, SCRIPT_OF, parameters

SCRIPTS = sorted((CHECKOUT / "workflow/scripts").glob("*.py"))

# What tells of time, place, user or machine; clocks that only measure how long something takes
# are left out.
SURROUNDINGS = {
    *("os.environ", "os.getenv", "os.getcwd", "os.uname", "os.cpu_count", "os.urandom"),
    *("Path.cwd", "Path.home", "socket.gethostname", "platform.node", "getpass.getuser"),
    *("time.time", "time.time_ns", "datetime.now", "datetime.today", "date.today"),
    "uuid.uuid4",
}
RANDOM = "default_rng"
# With what is kept of a source under a digest of its content.
CODE = (".py", ".pyc", ".nbi", ".nbc", ".source")
# Names a run; no result depends on it.
ALLOWED = {"pipeline.run_lock"}

# What a sweep may take changes how it runs, and nothing that it computes.
RESOURCES = {"sweeps_tile_counts", "sweeps_tiles", "sweeps_timeline", "sweeps_timeline_gain"}


def code_behind_scripts():
    """Module or script -> file, of all code that jobs run."""
    names = [path.relative_to(CHECKOUT).as_posix() for path in SCRIPTS]
    return provenance._files_behind(names, CHECKOUT)


def surroundings(text):
    """What a source reads of them; a generator of random numbers is one unless it has a seed."""
    nodes = list(ast.walk(ast.parse(text)))
    seeded = {node.func for node in nodes if isinstance(node, ast.Call) and node.args}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            name = ".".join(ast.unparse(node).split(".")[-2:])
            if name in SURROUNDINGS or (node.attr == RANDOM and node not in seeded):
                yield name


def test_surroundings__are_seen():
    text = "import os\nos.environ['A']\nPath.home()\nnp.random.default_rng()\ndatetime.now()"
    found = {"os.environ", "Path.home", "random.default_rng", "datetime.now"}
    assert set(surroundings(text)) == found
    assert set(surroundings("np.random.default_rng(seed)\ntime.perf_counter()\nline.time")) == set()


def test_code__behind_rules_reads_nothing_of_its_surroundings():
    behind = code_behind_scripts()
    assert len(behind) > 300
    found = {
        (name, read)
        for name, path in behind.items()
        if name not in ALLOWED
        for read in surroundings(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_scripts__that_see_resources_are_those_of_sweeps():
    seen = {
        path.stem
        for path in SCRIPTS
        if re.search(r"\bsnakemake\.(threads|resources)\b", path.read_text(encoding="utf-8"))
    }
    assert seen == RESOURCES


def opened(scratch):
    """Script -> what its jobs read and listed below the checkout, by name there."""
    found = {}
    for path in (scratch.folder / OPENED).iterdir():
        script, *names = path.read_text(encoding="utf-8").splitlines()
        found.setdefault(script, set()).update(names)
    return found


def declared(scratch):
    """Script -> outputs of its jobs, and their inputs, as they were recorded."""
    outputs, inputs = {}, {}
    for name, entry in json.loads(scratch.text("results/manifest.json")).items():
        outputs.setdefault(script_of(name.split()[0]), set()).update(entry["outputs"])
    for path in (scratch.folder / ".snakemake/metadata").rglob("*"):
        if path.is_file():
            record = json.loads(path.read_text(encoding="utf-8"))
            inputs.setdefault(script_of(record["rule"]), set()).update(record["input"])
    return outputs, inputs


def script_of(rule):
    return SCRIPT_OF.get(rule, rule)


def is_code(name, script):
    """Whether the digest of the code covers it, or it is what Python and Snakemake need.

    Catalogues of messages are covered by what ``words`` takes from them.
    """
    path = PurePosixPath(name)
    if name.startswith("pipeline/locale/"):
        return "words" in parameters(RULES[script])
    if path.parts[0] in ("pipeline", "workflow"):
        return path.suffix in CODE or (CHECKOUT / name).is_dir()
    own = script == "own_simulate" and path.name.split(".")[0] == PurePosixPath(OWN["file"]).stem
    return own or path.parts[0] in (".snakemake", "sitecustomize.py")


def is_output(name, outputs):
    """Whether it is an output, what becomes one, or the folder that one is put into."""
    for output in map(PurePosixPath, outputs):
        inside = name == str(output) or name.startswith(
            (f"{output}/", f"{output.parent}/.{output.name}.")
        )
        if inside or name in map(str, output.parents):
            return True
    return False


def is_input(name, inputs):
    return any(name == each or name.startswith(f"{each}/") for each in inputs)


@pytest.mark.workflow
def test_jobs__read_no_file_but_what_they_declare(whole):
    outputs, inputs = declared(whole)
    read = opened(whole)
    # The small configuration names no CUDA of its own.
    assert set(read) == {path.stem for path in SCRIPTS if not path.stem.startswith("own_cuda")}
    assert any(is_input(name, inputs["counts"]) for name in read["counts"])
    undeclared = {
        (script, name)
        for script, names in read.items()
        for name in names
        if not is_code(name, script)
        and not is_output(name, outputs[script])
        and not is_input(name, inputs[script])
    }
    assert undeclared == set()
