"""Every artifact, in the order in which the lectures show them: id -> module.

A module that is not listed is not made; a test compares the list with the files. Nothing here
imports an artifact, so a new line changes no other artifact.
"""

LECTURE10 = {
    "gpus": "pipeline.artifacts.lecture10.gpus",
    "kernels": "pipeline.artifacts.lecture10.kernels",
    "counters": "pipeline.artifacts.lecture10.counters",
    "per_fma": "pipeline.artifacts.lecture10.per_fma",
    "extrapolation": "pipeline.artifacts.lecture10.extrapolation",
    "smem_reads": "pipeline.artifacts.lecture10.smem_reads",
    "missing_sync": "pipeline.artifacts.lecture10.missing_sync",
    "bank_conflicts": "pipeline.artifacts.lecture10.bank_conflicts",
    "occupancy": "pipeline.artifacts.lecture10.occupancy",
    "bottlenecks": "pipeline.artifacts.lecture10.bottlenecks",
    "across_gpus": "pipeline.artifacts.lecture10.across_gpus",
    "roofline": "pipeline.artifacts.lecture10.roofline",
    "validation": "pipeline.artifacts.lecture10.validation",
    "tile_sweep": "pipeline.artifacts.lecture10.tile_sweep",
    "tile_order": "pipeline.artifacts.lecture10.tile_order",
    "mma_fragments": "pipeline.artifacts.lecture10.mma_fragments",
    "ldmatrix": "pipeline.artifacts.lecture10.ldmatrix",
    "counters_measured": "pipeline.artifacts.lecture10.counters_measured",
    "block_programs": "pipeline.artifacts.lecture10.block_programs",
    "compiled": "pipeline.artifacts.lecture10.compiled",
    "compiled_vs_python": "pipeline.artifacts.lecture10.compiled_vs_python",
    "sm_replay": "pipeline.artifacts.lecture10.sm_replay",
    "stalls": "pipeline.artifacts.lecture10.stalls",
    "pipeline_view": "pipeline.artifacts.lecture10.pipeline_view",
    "ablation": "pipeline.artifacts.lecture10.ablation",
    "tile_replay": "pipeline.artifacts.lecture10.tile_replay",
}

LECTURE11 = {
    "ledger": "pipeline.artifacts.lecture11.ledger",
    "ideal": "pipeline.artifacts.lecture11.ideal",
    "timeline": "pipeline.artifacts.lecture11.timeline",
    "timeline_parts": "pipeline.artifacts.lecture11.timeline_parts",
    "timeline_trace": "pipeline.artifacts.lecture11.timeline_trace",
    "waves": "pipeline.artifacts.lecture11.waves",
    "sensitivity": "pipeline.artifacts.lecture11.sensitivity",
    "timeline_sweep": "pipeline.artifacts.lecture11.timeline_sweep",
    "decode_models": "pipeline.artifacts.lecture11.decode_models",
    "gemv_replay": "pipeline.artifacts.lecture11.gemv_replay",
}

OWN = {
    "own_kernels": "pipeline.artifacts.own.own_kernels",
}
"""Artifacts of the user's own kernels, in a folder of their own."""

OWN_CUDA = {
    "own_cuda": "pipeline.artifacts.own.own_cuda",
    "own_cuda_replay": "pipeline.artifacts.own.own_cuda_replay",
    "own_cuda_memory": "pipeline.artifacts.own.own_cuda_memory",
    "own_cuda_lines": "pipeline.artifacts.own.own_cuda_lines",
    "own_cuda_mix": "pipeline.artifacts.own.own_cuda_mix",
}

CATALOG = {10: LECTURE10, 11: LECTURE11}
"""Lecture number -> its artifacts."""
