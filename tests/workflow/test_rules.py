"""What every rule and every script must have: without it, a stale result would look fresh."""

import ast
import json
import re
import shutil

import pytest

from tests.workflow.scratch import CHECKOUT, digests

RULE_FILES = sorted((CHECKOUT / "workflow/rules").glob("*.smk"))
SCRIPTS = sorted((CHECKOUT / "workflow/scripts").glob("*.py"))

# Parameters whose values cannot be mistaken for one another; everything else goes into settings.
PARAMETERS = {
    "module",
    "options",
    "settings",
    "sheets",
    "gpus",
    "launches",
    "workload",
    "executions",
    "comparison",
    "variants",
    "kernel",
    "labels",
    "twin",
    "twins",
    "words",
}
CONTROL_FLOW = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.While,
    ast.Try,
    ast.With,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.comprehension,
)


def rules():
    """Every rule in workflow/rules: its name, and directive -> text."""
    for path in RULE_FILES:
        text = path.read_text(encoding="utf-8")
        for block in re.split(r"^(?:use )?rule ", text, flags=re.MULTILINE)[1:]:
            name = block.split(":", 1)[0]
            body = "\n".join(line for line in block.splitlines()[1:] if not line.startswith("#"))
            parts = re.split(r"^    (\w+):", body, flags=re.MULTILINE)
            yield name, dict(zip(parts[1::2], parts[2::2], strict=True))


def inherited(found):
    """Rules with what they take from the rule that they use, by their own names."""
    for name, directives in found.items():
        base, _, derived = name.partition(" as ")
        yield (
            (derived.removesuffix(" with") or base),
            found[base] | directives if derived else directives,
        )


FOUND = dict(rules())
RULES = dict(inherited(FOUND))
# Rules whose script is that of the rule they use.
SCRIPT_OF = {
    derived.removesuffix(" with"): base
    for base, _, derived in (name.partition(" as ") for name in FOUND)
    if derived
}


def parameters(directives):
    return dict(
        re.findall(
            r"^        (\w+)=(.*?),$(?=\n        \w|\s*\Z)", directives["params"], re.M | re.S
        )
    )


def test_rules__were_found():
    assert {"gpus", "simulate", "counts", "predictions", "table", "figure"} <= set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_rule__has_all_that_it_must_have(name):
    directives = RULES[name]
    assert {"output", "log", "conda", "params", "script"} <= set(directives)
    assert directives["conda"].strip() == '"../../environment.yml"'
    assert not {"run", "shell", "notebook", "wrapper", "cache"} & set(directives)


@pytest.mark.parametrize("name", RULES)
def test_rule__script_has_its_name(name):
    assert RULES[name]["script"].strip() == f'"../scripts/{SCRIPT_OF.get(name, name)}.py"'


def test_scripts__each_belongs_to_a_rule():
    assert [path.stem for path in SCRIPTS] == sorted(set(RULES) - set(SCRIPT_OF))


@pytest.mark.parametrize("name", RULES)
def test_rule__carries_code_digest_and_versions(name):
    params = parameters(RULES[name])
    assert f'"workflow/scripts/{SCRIPT_OF.get(name, name)}.py"' in params["code"]
    assert "code_digest(" in params["code"]
    assert re.match(r"(lambda wildcards: )?library_versions\(", params["versions"])


@pytest.mark.parametrize("name", RULES)
def test_rule__parameters_are_known_and_not_derived_from_files(name):
    params = parameters(RULES[name])
    assert set(params) - {"code", "versions"} <= PARAMETERS
    for text in params.values():
        # Snakemake does not compare values that it derives from files.
        assert not re.search(r"lambda [^:]*\b(input|output|resources|threads)\b", text)


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_rule_file__reads_no_raw_configuration(path):
    assert not re.search(r"\bconfig\[|\bconfig\.|lookup\(", path.read_text(encoding="utf-8"))


def dynamic_imports(name):
    script = CHECKOUT / f"workflow/scripts/{SCRIPT_OF.get(name, name)}.py"
    tree = ast.parse(script.read_text(encoding="utf-8"))
    return "import_module" in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("name", [name for name in RULES if dynamic_imports(name)])
def test_rule__digest_covers_the_module_that_the_script_imports_by_name(name):
    params = parameters(RULES[name])
    source = params["module"].partition(":")[2]
    assert "".join(source.split()) in "".join(params["code"].split())


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script__is_thin(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree).startswith(f"Rule ``{path.stem}``: ")
    assert len(tree.body) - 1 <= 12
    flow = [type(node).__name__ for node in ast.walk(tree) if isinstance(node, CONTROL_FLOW)]
    assert flow == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script__sees_only_its_files_and_parameters(path):
    text = path.read_text(encoding="utf-8")
    seen = {"input", "output", "params", "log", "threads", "resources"}
    assert set(re.findall(r"\bsnakemake\.(\w+)", text)) <= seen
    assert "runlog.start(snakemake.log[0])" in text


@pytest.mark.workflow
def test_jobs__recorded_parameters_are_plain_values(built):
    seen = set()
    for path in (built.folder / ".snakemake/metadata").rglob("*"):
        if not path.is_file():
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        seen.add(record["rule"])
        values = [ast.literal_eval(text) for text in record["params"]]
        # Names are not recorded: two bare numbers that change places would go unnoticed.
        assert not any(isinstance(value, int | float) for value in values), record["rule"]
        assert any(isinstance(value, dict) and "numpy" in value for value in values)
        assert any(
            re.fullmatch("[0-9a-f]{64}", value) for value in values if isinstance(value, str)
        )
    # The small configuration names no CUDA of its own.
    assert seen == {rule for rule in RULES if not rule.startswith("own_cuda")}


@pytest.mark.workflow
def test_all__makes_again_what_only_leads_to_others(changed):
    """Otherwise what ``make check-results`` tells people to delete would stay away."""
    before = digests(changed.folder / "results")
    for folder in ("simulated", "compiled"):
        shutil.rmtree(changed.folder / "results" / folder)
    (changed.folder / "results/decode/gpu_figures.zarr").rename(changed.folder / "away")
    # Other targets do not ask for it, and go on without.
    code, shown = changed.snakemake("results/gpus.zarr", "results/decode/ledger.zarr")
    assert code == 0, shown
    code, shown = changed.snakemake("all")
    assert code == 0, shown
    assert digests(changed.folder / "results") == before
