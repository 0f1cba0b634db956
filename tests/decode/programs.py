"""Generators of small megakernel programs and of the machines that run them."""

from hypothesis import strategies as st

from pipeline.decode.instructions import Dealing, program
from pipeline.decode.machine import Machine
from pipeline.decode.model import Model
from pipeline.decode.operations import step
from tests.decode.generators import PLANS, PUBLISHED

NO_WAIT = Machine(
    bandwidth=1e9,
    latency=0.0,
    sm_bandwidth=float("inf"),
    pages=4,
    page_bytes=512.0,
    in_flight=2,
    numbers_per_second=float("inf"),
    setup=0.0,
    signal=0.0,
    fetch=0.0,
    sync=0.0,
    norm=0.0,
)
"""Nothing but reading takes time."""


def small_model(layers=2, kv_heads=2, shared=2, head_size=8, hidden=32, mlp=48, vocabulary=96):
    return Model(
        id="small",
        name="small",
        layers=layers,
        hidden=hidden,
        heads=kv_heads * shared,
        kv_heads=kv_heads,
        head_size=head_size,
        mlp=mlp,
        vocabulary=vocabulary,
        tied_embeddings=True,
        qk_norm=False,
        data_type="bf16",
    )


def dealt(model, n_sm=3, assignment="contiguous", rows_per_block=8, context=5, batch=1):
    ops = step(model, PLANS["fused"], PUBLISHED, context, batch, rows_per_block)
    return program(model, ops, Dealing(n_sm, assignment, rows_per_block, context, batch))


models = st.builds(
    small_model,
    layers=st.integers(1, 2),
    kv_heads=st.integers(1, 3),
    shared=st.integers(1, 2),
    head_size=st.sampled_from([2, 8]),
    hidden=st.sampled_from([16, 24, 32]),
    mlp=st.sampled_from([10, 48, 80]),
    vocabulary=st.integers(1, 100),
)
programs = st.builds(
    dealt,
    models,
    n_sm=st.integers(1, 5),
    assignment=st.sampled_from(["contiguous", "round_robin"]),
    rows_per_block=st.sampled_from([4, 8]),
    context=st.integers(1, 9),
    batch=st.integers(1, 2),
)
# Whole and half microseconds: ties are common, and a twin must break them in the same way.
times = st.integers(0, 6).map(lambda halves: halves * 0.5e-6)
machines = st.builds(
    Machine,
    bandwidth=st.sampled_from([0.5e9, 1e9, 7e9]),
    latency=times,
    sm_bandwidth=st.sampled_from([0.4e9, 1e9, float("inf")]),
    pages=st.integers(1, 6),
    page_bytes=st.sampled_from([128.0, 512.0, 1000.0]),
    in_flight=st.integers(1, 4),
    numbers_per_second=st.sampled_from([0.3e9, 2e9, float("inf")]),
    setup=times,
    signal=times,
    fetch=times,
    sync=times,
    norm=times,
)
