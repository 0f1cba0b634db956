"""Mistakes in ``config/config.yaml``."""

from tests.mistakes.row import CHECKOUT, DEEP, LAUGHS, MANY_DIGITS, TOO_LARGE, row

FILE = CHECKOUT / "config/config.yaml"
SOUND = FILE.read_text(encoding="utf-8")

SEED = "  seed: 0            #"
OWN = "  transpose_naive:  #"
OWN_FILE = "    file: examples/transpose.py  #"
LABEL = "    label: naive transpose  #"
GPUS = "gpus:\n  [rtx_a6000,"
HAZARDS = "hazards:\n"
WHOLE = "must be a whole number"
BLOCK = "    block: [32, 8]  #"
NAMED = "a kernel's name is made of a to z, 0 to 9 and _"

LINE = f"line {SOUND[: SOUND.index(SEED)].count(chr(10)) + 1}: "


def seed(value):
    return (SEED, f"  seed: {value}  #")


ROWS = [
    # The file
    row("nothing in it", "", "config.yaml: does not hold a mapping", "lines 'key: value'"),
    row("only a comment", "# later\n", "does not hold a mapping"),
    row("a list", "- gpus\n", "does not hold a mapping"),
    row(
        "not UTF-8", SOUND.replace("# Every", "# \u00c9very").encode("latin-1"), "(line 1)", "UTF-8"
    ),
    row("UTF-16", SOUND.encode("utf-16"), "is not UTF-8 text", "save it as UTF-8"),
    row("200 MB", TOO_LARGE, "is 200.0 MB large; at most 1 MB", "is it the right file?"),
    row("a null byte", (SEED, "  se\0ed: 0  #"), LINE, "U+0000", "delete it"),
    row("a tab", ("  seed:", "\tseed:"), LINE, "cannot start any token"),
    row("two documents", SOUND + "---\na: 1\n", "another document"),
    row("an open bracket", (GPUS, "gpus: [\nkernels:\n  ["), "config.yaml: line "),
    row("nested deeply", DEEP, "line 1: more than 40 groups or lists inside one another"),
    row("billion laughs", LAUGHS + SOUND, ": stands for more than 100000 values"),
    row("a list that holds itself", seed("&s [*s]"), LINE + "*s stands in a value that it repeats"),
    row(
        "a group that holds itself",
        (HAZARDS, "hazards: &h\n  x: *h\n"),
        "*h stands in a value that it repeats",
    ),
    row("an alias of nothing", seed("*gone"), LINE, "gone"),
    row("a merge key", (HAZARDS, "hazards:\n  <<: {}\n"), "the key << is not taken; write"),
    row("a key twice", (HAZARDS, "hazards: {}\nhazards:\n"), "the key 'hazards' stands twice"),
    row("a Python object", seed("!!python/object/apply:os.system [exit]"), LINE, "only text"),
    row("a set", seed("!!set {a}"), LINE, "is not taken; only text, numbers"),
    row("bytes", seed("!!binary aGVsbG8="), LINE, "is not taken; only text, numbers"),
    # Numbers that are read as others
    row("a date", seed("2024-01-01"), LINE + "is read as a date; put it in quotes"),
    row("base 8", seed("0200"), LINE + "0200 is read as a number of base 8; leave out"),
    row("base 60", seed("1:30"), LINE + "1:30 is read as a number of base 60; write it out"),
    row("5000 digits", seed(MANY_DIGITS), LINE + "a number of 5000 characters; at most 4000"),
    # Values
    row("31 digits", seed("9" * 31), "counting.seed: given 999", "is far beyond any number"),
    row("1e-3 for a whole number", seed("1e-3"), f"counting.seed: given '1e-3'; {WHOLE}"),
    row("no for a number", seed("no"), "counting.seed: given false (YAML reads yes, no", WHOLE),
    row("no number", seed(".nan"), f"counting.seed: given nan; {WHOLE}"),
    row("infinity", seed(".inf"), f"counting.seed: given inf; {WHOLE}"),
    row("below its range", seed("-1"), "counting.seed: given -1; must be at least 0"),
    row("a unit in a number", seed("3 s"), f"counting.seed: given '3 s'; {WHOLE}"),
    row("a missing key", ("  seed: 0  ", "  #"), "counting.seed: is missing; give it a value"),
    row("a key without value", seed(""), f"counting.seed: given None; {WHOLE}"),
    row("an unknown key", ("  seed: 0  ", "  sead: 0"), "counting.sead: unknown key", "'seed'?"),
    row("a key that is no text", (HAZARDS, "3: 4\nhazards:\n"), "[3]: unknown key; allowed: "),
    row("a size twice", ("sizes: [128, 256", "sizes: [128, 128"), "must hold each entry once"),
    row(
        "milliseconds for seconds",
        ("    ramp: {linear: [0.5e-6", "    ramp: {linear: [0.5"),
        "sweeps.timeline.ramp: ",
    ),
    row(
        "a share in percent",
        ("  eff: {linear: [0.7, 1]", "  eff: {linear: [70, 100]"),
        "sweeps.timeline.eff: ",
        "from 0.01 to 1",
    ),
    row(
        "a file for an address",
        ("scheduler: threads", "scheduler: file:///etc/passwd"),
        "sweeps.execution.scheduler: given 'file:///etc/passwd'; must be threads",
    ),
    # Names
    row("a path for a GPU", (GPUS, "gpus:\n  [../x,"), "gpus[0]: given '../x'; data/gpus has no"),
    row("an absolute path", (GPUS, "gpus:\n  [/etc/passwd,"), "gpus[0]: given '/etc/passwd'"),
    row("a null byte in a name", (GPUS, 'gpus:\n  ["a\\0b",'), r"gpus[0]: given 'a\x00b'"),
    row("a GPU twice", (GPUS, "gpus:\n  [t4, rtx_a6000,"), "each entry once, but t4 stands there"),
    row("a path for a model", ("models: all", "models: [../../x]"), "decode.models[0]: given '../"),
    row("a kernel named ../x", (OWN, "  ../x:  #"), f"own_kernels['../x']: {NAMED}"),
    row("a kernel named /x", (OWN, "  /x:  #"), f"own_kernels['/x']: {NAMED}"),
    row("a kernel named CON", (OWN, "  CON:  #"), f"own_kernels.CON: {NAMED}"),
    row("a kernel named a.", (OWN, '  "a.":  #'), f"own_kernels['a.']: {NAMED}"),
    row("a kernel without name", (OWN, '  "":  #'), f"own_kernels['']: {NAMED}"),
    row("a name of two lines", (OWN, '  "a\\n":  #'), f"own_kernels['a\\n']: {NAMED}"),
    row("a name of 300 letters", (OWN, f"  {'a' * 300}:  #"), f"...]: {NAMED}, at most 60"),
    row("markup for a name", (OWN, '  "<b>":  #'), f"own_kernels['<b>']: {NAMED}"),
    row("a label of two lines", (LABEL, '    label: "a\\nb"  #'), ".label: given 'a\\nb'; must be"),
    row(
        "a label with a bell", (LABEL, '    label: "\\a"  #'), r".label: given '\x07'; must be one"
    ),
    row("a label of 5000 letters", (LABEL, f"    label: {'x' * 5000}  #"), "at most 200"),
    row("a number for a label", (LABEL, "    label: 7  #"), ".label: given 7; must be text"),
    # Files of kernels
    row("no Python file", (OWN_FILE, "    file: ../../etc/passwd  #"), "its name must end in .py"),
    row("a folder", (OWN_FILE, "    file: examples  #"), "its name must end in .py"),
    row("a null byte in a path", (OWN_FILE, '    file: "a\\0.py"  #'), r".file: given 'a\x00.py'"),
    row("a file that is not there", (OWN_FILE, "    file: a.py  #"), "cannot be read (No such"),
    row("no such function", ("kernel: naive", "kernel: nave"), "did you mean 'naive'?"),
    row("no threads", (BLOCK, "    block: [0, 8]  #"), ".block[0]: given 0; must be at least 1"),
    row("too many threads", (BLOCK, "    block: [64, 32]  #"), "a block has at most 1024"),
    row("text for a list", (BLOCK, "    block: 32 x 8  #"), "must be a list, written [first,"),
    # Several at once
    row(
        "five mistakes, one of which breaks two rules",
        SOUND.replace(SEED, "  seed: x  #")
        .replace("pitch: 33", "pich: 33")
        .replace(GPUS, "gpus:\n  [h200,")
        .replace(HAZARDS, "hazard: {}\nhazards:\n")
        .replace("  large_n: 4096", "  large_n: 1000"),
        "6 problems",
        "counting.seed: ",
        "pich",
        "gpus[0]: ",
        "hazard: ",
        "lecture10.large_n: ",
    ),
]
