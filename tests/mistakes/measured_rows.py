"""Mistakes in tables of measurements."""

from tests.mistakes.row import CHECKOUT, TOO_LARGE, row

FILE = CHECKOUT / "data/measured/sgemm_ladder.csv"
SOUND = FILE.read_text(encoding="utf-8")

RATE = "1986.5"
LINE = f"line {SOUND[: SOUND.index(RATE)].count(chr(10)) + 1}"
AT = f"sgemm_ladder.csv, {LINE}, column gflops: "

ROWS = [
    row("nothing in it", "", "the columns are missing; they must be gpu, kernel, n"),
    row("only a header", (SOUND[SOUND.index("\na100") :], "\n"), "there is no measurement below"),
    row("not UTF-8", SOUND.replace("# Pub", "# P\u00fcb").encode("latin-1"), "UTF-8 text (line 1)"),
    row("UTF-16", SOUND.encode("utf-16"), "is not UTF-8 text"),
    row("200 MB", TOO_LARGE, "is 200.0 MB large"),
    row("a null byte", (RATE, "\0"), f"{LINE}: holds a null byte; save the table as text"),
    row("an open quote", (RATE, '"1'), f"sgemm_ladder.csv, {LINE}"),
    row("a field of 200,000 digits", (RATE, "1" * 200_000), f"{LINE}: cannot be taken apart"),
    row("an unknown column", ("gflops,", "gflop,"), "the columns are ", "they must be gpu, kernel"),
    row("a column twice", ("gflops,", "gflops,gflops,"), "gflops, gflops, source"),
    row("semicolons", SOUND.replace(",", ";"), "the columns are gpu;kernel"),
    row("text for a number", (RATE, "fast"), f"{AT}'fast' is not allowed; input should be a valid"),
    row("a unit in a number", (RATE, "2 TFLOP/s"), f"{AT}'2 TFLOP/s' is not allowed"),
    row("no number", (RATE, "nan"), f"{AT}'nan' is not allowed; input should be a finite number"),
    row("infinity", (RATE, "inf"), f"{AT}'inf' is not allowed; input should be a finite number"),
    row("beyond float64", (RATE, "1e400"), f"{AT}'1e400' is not allowed"),
    row("negative", (RATE, "-1"), f"{AT}'-1' is not allowed; input should be greater than 0"),
    row("a comma in a number", (RATE, "1,986.5"), f"{LINE}: 16 values, but there are 15 columns"),
    row(
        "a path for a GPU",
        ("rtx_a6000,k01", "../x,k01"),
        "column gpu: '../x' is not allowed",
        "a to z",
    ),
    row("a case twice", SOUND + SOUND.splitlines()[-1], "stands in more than one line; keep one"),
    row(
        "no source", ("github.com/siboehm/SGEMM_CUDA README at c09b350", "?"), "column source: '?'"
    ),
    row(
        "three mistakes",
        SOUND.replace(RATE, "fast")
        .replace("19029.5", "-1")
        .replace("a100_sxm_40gb,k01_naive,4096", "A100,k01_naive,-4"),
        "4 problems",
        "column gflops: '-1'",
        "column gpu: 'A100'",
        "column n: '-4'",
        "'fast'",
    ),
]
