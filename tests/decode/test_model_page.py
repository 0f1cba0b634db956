"""The numbers of a decode step that docs/MODEL.md quotes are recomputed."""

from pathlib import Path

from tests.artifacts import fixtures_decode

PAGE = " ".join((Path(__file__).parents[2] / "docs/MODEL.md").read_text(encoding="utf-8").split())


def microseconds(timeline, execution):
    one = timeline["t"].sel(model="llama_3_2_1b", gpu="b200", execution=execution)
    return round(one.item() * 1e6)


def test_page__quotes_what_launch_costs_of_its_own_do_to_the_b200():
    shared, own = (fixtures_decode.timeline(own=own) for own in (False, True))
    graphs = [
        timeline["launch_t"].sel(gpu="b200", execution="kernels7_graphs").item() * 1e6
        for timeline in (own, shared)
    ]
    times = [microseconds(timeline, "kernels7_graphs") for timeline in (own, shared)]
    assert f"graphs then cost {graphs[0]:.1f} µs instead of {graphs[1]:.1f} µs" in PAGE
    assert f"take {times[0]} µs instead of {times[1]} µs" in PAGE
    assert f"the model gives {microseconds(shared, 'megakernel_prefetch')} µs for that" in PAGE
