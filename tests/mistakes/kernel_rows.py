"""Mistakes in files of the user's own kernels, which are read before they are run."""

from tests.mistakes.row import CHECKOUT, TOO_LARGE, row

FILE = CHECKOUT / "examples/transpose.py"
SOUND = FILE.read_text(encoding="utf-8")
LAST = SOUND[SOUND.rindex("\ndef ") :]
WHERE = "own_kernels.mine.file: given 'mine.py'; "

READ_ROWS = [
    row("nothing in it", "", "own_kernels.mine.kernel: given 'naive'; mine.py defines no such"),
    row("no Python", "def naive(:\n", f"{WHERE}line 1: invalid syntax"),
    row("an open bracket", SOUND + "x = (", f"{WHERE}line ", "was never closed"),
    row("tabs and blanks", "if 1:\n        x = 1\n\ty = 2\n", f"{WHERE}line 3: "),
    row("not UTF-8", b"x = '\xe9'\n", f"{WHERE}line 1: ", "utf-8"),
    row("a null byte", b"x = 1\0\n", f"{WHERE}is no Python file: it holds a null byte"),
    row("200 MB", TOO_LARGE, f"{WHERE}is 200.0 MB large; at most 1 MB"),
    row("nested for the parser", f"x = {'-' * 100_000}1\n", "nested too deeply; split it"),
    row("nested for the digest", f"x = {' + '.join('1' * 300)}\n", "line 1: more than 150 levels"),
    row("an import from beside it", "import row\n" + SOUND, "line 1 imports 'row' from beside it"),
    row("a relative import", "from . import x\n" + SOUND, f"{WHERE}line 1 imports "),
    row(
        "another argument",
        ("def naive(", "def naive(more, "),
        "naive(more, blk, x, out, n) has no default for it",
    ),
]

RUN_ROWS = [
    row("it raises an error", SOUND + "\n1 / 0\n", "mine (mine.py): ", "ZeroDivisionError"),
    row("it ends the run", SOUND + "\nraise SystemExit(0)\n", "SystemExit", "while the file was"),
    row("a module that is missing", SOUND + "\nimport no_such_thing\n", "No module named"),
    row("it takes its kernel away", SOUND + "\ndel naive\n", "has no attribute 'naive'"),
]
