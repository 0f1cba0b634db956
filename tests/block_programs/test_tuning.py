"""Configurations that are chosen by counted cost, and arguments computed from others."""

import numpy as np
import pytest

import pipeline.block_programs.language as tl
import pipeline.block_programs.triton as triton
from pipeline.errors import LaunchError, UnsupportedError


def configured(**options):
    @triton.autotune(
        configs=[
            triton.Config({"STEP": 8}, num_warps=4),
            triton.Config({"STEP": 1}, num_warps=2, num_stages=1),
            triton.Config({"STEP": 4}),
        ],
        key=["n"],
        **options,
    )
    @triton.heuristics({"EVEN": lambda args: args["n"] % args["STEP"] == 0})
    @triton.jit
    def count_up(x_ptr, n, STEP: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * 16 + tl.arange(0, 16)
        x = tl.load(x_ptr + (i * STEP) % n)
        tl.store(x_ptr + i, x + 1 + EVEN, mask=i < n)

    return count_up


def test_autotune__takes_the_configuration_that_moves_the_fewest_sectors():
    program = configured()
    x = np.zeros(64, np.float32)
    launched = program[lambda meta: (triton.cdiv(meta["n"], 16),)](x, 64)
    assert program.best_config.kwargs == {"STEP": 1}
    assert launched.options["num_warps"] == 2
    # Trials leave nothing behind: one launch has added its two.
    assert x.tolist() == [2] * 64


def test_autotune__chooses_once_per_key(monkeypatch):
    program = configured()
    asked = []
    monkeypatch.setattr(
        program, "_chosen", lambda given, grid: asked.append(given["n"]) or program.configs[0]
    )
    for n in (64, 32, 64):
        program[(2,)](np.zeros(64, np.float32), n)
    assert asked == [64, 32]


def test_autotune__prunes():
    program = configured(
        prune_configs_by={
            "early_config_prune": lambda configs, named_args, **kwargs: configs[:2],
            "perf_model": lambda STEP, **kwargs: -STEP,
            "top_k": 1,
        }
    )
    program[(1,)](np.zeros(64, np.float32), 64)
    assert program.best_config.kwargs == {"STEP": 8}


def test_autotune__refuses_what_it_does_not_know():
    with pytest.raises(LaunchError, match="autotune: key m is no argument of the program"):
        triton.autotune([], key=["m"])(triton.jit(lambda n: None))
    with pytest.raises(UnsupportedError, match="autotune: colour is not supported here"):
        triton.autotune([], key=[], colour=1)


def test_config__can_prepare_arguments():
    seen = []

    @triton.autotune([triton.Config({}, pre_hook=lambda args: seen.append(args["n"]))], key=[])
    @triton.jit
    def nothing(n):
        pass

    nothing[(1,)](7)
    assert seen == [7]


def test_autotune__puts_back_arrays_of_a_tuple_and_takes_every_hint():
    configs = [
        triton.Config({"BLOCK": 4}, num_buffers_warp_spec=0, pre_hook=None),
        triton.Config({"BLOCK": 8}, num_warps=8, num_consumer_groups=2),
    ]

    @triton.autotune(configs, key=["n"])
    @triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
    @triton.jit
    def add(arrays, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        x_ptr, y_ptr = arrays
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = i >= 0 if EVEN else i < n
        tl.atomic_add(y_ptr + i, tl.load(x_ptr + i, mask=inside), mask=inside)

    x, y = np.arange(12, dtype=np.float32), np.zeros(12, np.float32)
    add.run((x, y), 12, grid=lambda meta: (triton.cdiv(12, meta["BLOCK"]),), warmup=False)
    assert y.tolist() == x.tolist()


def test_next_power_of_2__of_numbers_of_numpy():
    assert [triton.next_power_of_2(np.int64(n)) for n in (0, 1, 5, 8)] == [1, 1, 8, 8]
