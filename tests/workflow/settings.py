"""Changes of the configuration, and what they make run again: every section has a row."""

from tests.workflow.changes import config, new, together
from tests.workflow.relations import (
    COUNTED,
    KERNELS,
    LADDERS,
    OF_MODELS,
    OWN,
    SWITCHES,
    TIMED,
    artifacts,
    behind,
    compiled,
    counted,
    sharing,
)
from tests.workflow.scratch import OWN as OWN_ENTRY
from tests.workflow.scratch import SMALL

DECODE, SWEEPS, TILES = SMALL["decode"], SMALL["sweeps"], SMALL["block_programs"]["tiles"]
K05 = SMALL["kernels"]["k05_blocktile_2d"]
MINE = new("data/models/mine.yaml", like="data/models/qwen3_0_6b.yaml")
WITHOUT_K05 = ("counts", "occupancy", "compiled_counts", *LADDERS.values(), "sm_spans")
K02 = {f"{rule} k02_coalesced" for rule in ("simulate", "compiled_kernel")}
# What a further architecture makes run.
SM_80 = {"sm_rates sm_80", "sm_switches sm_80"}
SM_80 |= behind("sm_predictions", "sm_measured", "sm_ablation")


def own(name, **changes):
    """Change one of the user's own kernels."""
    return config(own_kernels={name: OWN_ENTRY | SMALL["own_kernels"][name] | changes})


# What is changed -> how, and the jobs that run again.
SETTINGS = {
    "language": (config(language="en"), {job for job, _ in artifacts()} | {"site"}),
    "gpus: one more": (
        config(gpus=["rtx_a6000", "h100_sxm", "a100_sxm_40gb"]),
        behind("gpus", "sm_gpus", "sm_gemvs", "gpu_limits", "decode_timeline", "sweeps_timeline")
        | {"sm_ladder sm_80", *SM_80},
    ),
    "kernels: an option": (
        config(kernels={"k05_blocktile_2d": K05 | {"vec_b": True}}),
        {"simulate k05_blocktile_2d"} | behind("simulate"),
    ),
    "kernels: one less": (
        config(kernels={"k05_blocktile_2d": False}),
        behind(*WITHOUT_K05),
    ),
    "kernels: one more": (
        config(kernels={"k02_coalesced": {}}),
        K02 | behind("simulate", *WITHOUT_K05),
    ),
    "own_kernels: an option": (
        own("transpose_padded", options={"pitch": 35}),
        counted("transpose_padded") | behind("own_simulate"),
    ),
    "own_kernels: registers": (
        own("transpose_naive", registers=64),
        behind("own_occupancy", "own_check transpose_naive"),
    ),
    "own_kernels: a label": (
        own("transpose_naive", label="by rows"),
        behind("own_counts", "own_occupancy", "own_check transpose_naive"),
    ),
    "own_kernels: one less": (config(own_kernels={"transpose_naive": False}), behind("own_counts")),
    "counting: seed": (
        config(counting={"seed": 1}),
        counted(*KERNELS, *OWN) | behind("simulate", "hazards", "own_simulate"),
    ),
    "counting: rule": (
        config(counting={"wavefronts": "hardware"}),
        counted(*KERNELS, *OWN) | behind("simulate", "own_simulate", "sm_tiles", *COUNTED),
    ),
    "counting: numbers exchanged": (
        config(counting={"held_out": 32, "per_fma_base": 160}),
        counted(*OWN) | behind("extrapolation", "own_simulate"),
    ),
    "hazards": (config(hazards={"sizes": [32, 64]}), behind("hazards")),
    "extrapolation": (
        config(extrapolation={"sizes": [1024, 2048, 4096]}),
        compiled() | behind("extrapolation", "own_extrapolation", "compiled_counts"),
    ),
    "compiled": (
        config(compiled={"n": 2048}),
        compiled() | behind("compiled_counts", *LADDERS.values(), "sm_spans"),
    ),
    "compiled: architectures": (
        config(compiled={"architectures": ["sm_86", "sm_80"]}),
        compiled() | behind("compiled_counts") | {"sm_ladder_shown sm_80", *SM_80},
    ),
    "replay: sizes": (config(replay={"sizes": [4096]}), behind(*LADDERS.values())),
    "replay: cycles": (config(replay={"cycles": 32}), behind("sm_spans")),
    "replay: left out": (
        config(replay={"left_out": ["wavefronts"]}),
        behind(*SWITCHES.values()),
    ),
    "tile_order": (config(tile_order={"largest_group": 9}), behind("tile_order")),
    "block_programs: seed": (config(block_programs={"seed": 1}), behind("block_programs")),
    "block_programs: a tile": (
        config(block_programs={"tiles": TILES | {"group": 1}}),
        behind("block_programs"),
    ),
    "sweeps: tiles": (
        config(sweeps={"tiles": SWEEPS["tiles"] | {"tm": [4]}}),
        behind("sweeps_tile_counts"),
    ),
    "sweeps: warp tiles": (
        config(sweeps={"warp_tiles": SWEEPS["warp_tiles"] | {"wn": [32]}}),
        behind("sweeps_warp_tile_counts"),
    ),
    "sweeps: timeline": (
        config(sweeps={"timeline": SWEEPS["timeline"] | {"sync": [2e-6]}}),
        behind("sweeps_timeline"),
    ),
    "lecture10: gpu": (config(lecture10={"gpu": "h100_sxm"}), sharing("gpu") | behind("sm_spans")),
    "lecture10: gpus": (config(lecture10={"shown_gpus": ["h100_sxm"]}), sharing("shown_gpus")),
    "lecture10: second n": (
        config(lecture10={"second_n": 96}, block_programs={"sizes": [64, 96]}),
        sharing("second_n") | behind("block_programs"),
    ),
    "lecture10: large n": (config(lecture10={"large_n": 1024}), sharing("large_n")),
    "decode: an assumption": (
        config(decode={"timeline": DECODE["timeline"] | {"ramp": 2e-6}}),
        behind(*TIMED),
    ),
    "decode: context": (
        config(decode={"context": 320}),
        behind("decode_ledger", *TIMED, "decode_waves", "megakernel", "megakernel_trace"),
    ),
    "decode: another model": (
        together(MINE, config(decode={"models": ["llama_3_2_1b", "mine"]})),
        behind(*OF_MODELS),
    ),
    "decode: a variant": (
        config(decode={"sensitivity": {"eff_low": {"parameter": "eff", "value": 0.7}}}),
        behind("decode_sensitivity"),
    ),
    "megakernel: assignment": (
        config(megakernel={"assignment": "round_robin"}),
        behind("megakernel_trace"),
    ),
    "megakernel: layers": (config(megakernel={"layers": 2}), behind("decode_spans")),
    "lecture11: reference": (
        config(lecture11={"reference": "megakernel_prefetch", "compared": "kernels7_graphs"}),
        sharing("reference", 11)
        | sharing("compared", 11)
        | behind("decode_sensitivity", "sweeps_timeline_gain"),
    ),
}
