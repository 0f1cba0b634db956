import numpy as np
import pytest

from pipeline.decode.execution import Execution
from pipeline.decode.megakernel import Job, trace
from pipeline.decode.spans import spans
from pipeline.decode.timeline import timeline
from pipeline.vocab.decode_spans import INSTRUCTIONS
from tests.decode.evidence import ASSUMPTIONS, COSTS, FIGURES, LLAMA_ONLY

EXECUTIONS = {
    "kernels12_stream": Execution("12 kernels", "kernels12", "stream", prefetch=False),
    "kernels7_pdl": Execution("PDL", "kernels7", "pdl", prefetch=True),
    "no_prefetch": Execution("no prefetch", "fused", "megakernel", prefetch=False),
}
H100 = COSTS.sel(gpu="h100_sxm")
LAYERS = 2


@pytest.fixture(scope="module")
def traced():
    job = Job(LLAMA_ONLY, "llama_3_2_1b", "fused")
    return trace(job, FIGURES.sel(gpu="h100_sxm"), "contiguous")


@pytest.fixture(scope="module")
def made(traced):
    return spans(LLAMA_ONLY, EXECUTIONS, H100, ASSUMPTIONS, traced, LAYERS)


def of(made, execution):
    frame = made[[n for n, v in made.data_vars.items() if v.dims == ("span",)]].to_dataframe()
    return frame[frame["span_execution"] == execution]


def test_spans__of_kernels_follow_each_other_without_a_gap(made):
    for execution in EXECUTIONS:
        frame = of(made, execution)
        np.testing.assert_allclose(frame["begin"].to_numpy()[1:], frame["end"].to_numpy()[:-1])
        assert frame["begin"].iloc[0] == 0.0
        assert (frame["end"] > frame["begin"]).all()


def test_spans__of_a_layer_take_its_share_of_the_timeline(made):
    # Executions without PDL treat every layer alike: the time of the layers, in proportion.
    for execution in ("kernels12_stream", "no_prefetch"):
        one = EXECUTIONS[execution]
        step = LLAMA_ONLY.step("llama_3_2_1b", one.plan)
        parameters = ASSUMPTIONS.parameters(H100.reset_coords(drop=True), one)
        layers = type(step)(step.layers, step.layer, ())
        whole = float(timeline(layers, one.mode, parameters)["t"])
        shown = of(made, execution)["end"].max()
        assert shown == pytest.approx(whole * LAYERS / step.layers)


def test_spans__kernel_parts_are_those_of_the_timeline(made):
    first = of(made, "kernels12_stream").groupby("group", sort=True).agg(list)
    assert first["part"].iloc[0] == ["launch", "small"]
    assert first["part"].iloc[1] == ["launch", "ramp", "read", "tail"]
    assert first["after"].iloc[1][0] == 0


def test_spans__of_instructions_are_those_of_the_schedule(made, traced):
    frame = of(made, INSTRUCTIONS)
    shown = traced.isel(instruction=np.flatnonzero((traced.layer >= 0) & (traced.layer < LAYERS)))
    assert frame["group"].nunique() == shown.sizes["instruction"] == LAYERS * 532
    spent = (frame["end"] - frame["begin"]).groupby(frame["part"]).sum()
    assert spent["work"] == pytest.approx(float((shown.end - shown.start).sum()))
    assert spent.sum() == pytest.approx(float((shown.end - shown.begin).sum()))


def test_spans__bandwidth_is_never_more_than_there_is(made):
    assert float(made.bandwidth.max()) <= 3.35e12
    assert float(made.bandwidth.min()) >= 0.0
    for execution in [*EXECUTIONS, INSTRUCTIONS]:
        assert (made.sample_execution == execution).any()
