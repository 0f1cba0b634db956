"""Mistakes in data sheets: GPUs, models, fusion plans."""

from tests.mistakes.row import CHECKOUT, DEEP, LAUGHS, TOO_LARGE, row

GPU = CHECKOUT / "data/gpus/h100_sxm.yaml"
MODEL = CHECKOUT / "data/models/llama_3_2_1b.yaml"
PLAN = CHECKOUT / "data/fusion_plans/kernels7.yaml"

SMS = "sm_count:\n  value: 132\n"
CLOCK = "clock_hz:\n  value: 1.98e+9\n  unit: Hz\n"
LAYERS = "layers: {value: 16,"
ROPE = ", rope"


def sms(value):
    return (SMS, f"sm_count:\n  value: {value}\n")


GPU_ROWS = [
    row("nothing in it", "", "is empty; it must hold lines 'name: figure'"),
    row("a list", "- 1\n", "does not hold a mapping"),
    row("not UTF-8", b"name: caf\xe9\n", "is not UTF-8 text (line 1); save it as UTF-8"),
    row("200 MB", TOO_LARGE, "is 200.0 MB large; at most 1 MB"),
    row("nested deeply", DEEP, "line 1: more than 40 groups"),
    row("billion laughs", LAUGHS, "stands for more than 100000 values"),
    row("a control character", "name: \x07\n", "line 1: holds the character U+0007"),
    row("a figure twice", (SMS, f"{SMS}  unit: '1'\n{SMS}"), "the key 'sm_count' stands twice"),
    row("an unknown figure", ("sm_count:", "sm_cuont:"), "sm_cuont: is not a field here; did you"),
    row("a missing figure", ("sm_count:", "sm_cuont:"), "sm_count: is missing; add it as {value"),
    row("no for a number", sms("no"), "sm_count.value: is false (YAML reads yes and no as truth"),
    row("1e-3", (CLOCK, CLOCK.replace("1.98e+9", "1e9")), "clock_hz.value: is the text '1e9'"),
    row("a clock in GHz", (CLOCK, CLOCK.replace("1.98e+9", "1.98")), "figures are in SI units"),
    row("another unit", (CLOCK, CLOCK.replace("Hz\n", "MHz\n")), 'this figure is given in "Hz"'),
    row("no number", sms(".nan"), "sm_count.value: is nan"),
    row("infinity", (CLOCK, CLOCK.replace("1.98e+9", ".inf")), "clock_hz.value: is inf"),
    row("negative", sms("-3"), "sm_count.value: is -3; it must be greater than 0"),
    row("base 8", sms("0132"), "0132 is read as a number of base 8"),
    row("base 60", sms("2:12"), "2:12 is read as a number of base 60"),
    row("40 digits", sms("9" * 40), "is a number of more than 18 digits"),
    row("no source", ('  source: "NVIDIA H100', '  sauce: "NVIDIA H100'), "did you mean source?"),
    row("a capability that is none", ('"9.0"', '"9.7"'), "'9.7' is not in the table of compute"),
    row("a name of two lines", ("name: H100 SXM", 'name: "a\\nb"'), "it must be one line of"),
    row("an escape in a name", ("name: H100 SXM", 'name: "\\e[31m"'), "it must be one line of"),
    row(
        "a path for an id",
        ("name: ", "name: "),
        "a GPU sheet is named <id>.yaml",
        file="h100..yaml",
    ),
    row("CON", ("name: ", "name: "), "the id of at most 60 lower-case letters", file="CON.yaml"),
    row("an id of 200 letters", ("name: ", "name: "), "at most 60", file=f"{'a' * 200}.yaml"),
    row(
        "three mistakes",
        (SMS, "fan: {value: 1}\nsm_count:\n  value: x\n  colour: red\n"),
        "3 problems in the GPU data",
        "sm_count.value: is the text 'x'",
        "colour",
        "fan: ",
    ),
]

MODEL_ROWS = [
    row("nothing in it", "", "is empty"),
    row("seven heads of keys", ("kv_heads: {value: 8", "kv_heads: {value: 7"), "must divide heads"),
    row("an odd head", ("head_size: {value: 64", "head_size: {value: 63"), "must be even"),
    row("base 60", (LAYERS, "layers: {value: 1:30,"), "1:30 is read as a number of base 60"),
    row("half a layer", (LAYERS, "layers: {value: 16.5,"), "layers.value: is 16.5, not a whole"),
    row(
        "a thousand times too many",
        ("hidden: {value: 2048", "hidden: {value: 2048000000"),
        "is one of them in another unit?",
    ),
    row("an unknown type", ("{value: bf16", "{value: bf61"), "data_type.value: is 'bf61'; it must"),
    row("markup of 300 letters", ("name: Llama-3.2-1B", f"name: {'<b>' * 100}"), "at most 200"),
]

PLAN_ROWS = [
    row("an operation is missing", (ROPE, ""), "layer: rope is missing; every operation must"),
    row("an operation twice", (ROPE, ", rope, rope"), "every operation runs once"),
    row("an unknown operation", (ROPE, ", roper"), "did you mean rope?"),
    row("a path for a group", ("  o: [", "  ../o: ["), "it must be made of a to z, 0 to 9 and _"),
    row("no for a group", ("  o: [", "  no: ["), "is false (YAML reads yes and no as truth"),
    row("an empty group", ("  o: [", "  x: []\n  o: ["), "layer.x: is empty; name its operations"),
    row("a text for a list", ("[attention]", "attention"), "it must be a list, written [first"),
]
