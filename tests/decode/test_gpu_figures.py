import numpy as np
import pytest

from pipeline.decode.gpu_figures import PAGE_BYTES, decode_gpu_figures, machine
from pipeline.decode.instructions import Dealing, program
from pipeline.errors import ModelError
from tests.decode.evidence import FIGURES, GPUS, MEASURED
from tests.decode.generators import LLAMA, lecture_step


def measured(gpu, metric):
    rows = (MEASURED["gpu"] == gpu) & (MEASURED["metric"] == metric)
    return float(MEASURED["measured"].values[rows.values].mean())


def test_decode_gpu_figures__are_those_measured_on_the_gpu():
    h100 = FIGURES.sel(gpu="h100_sxm")
    assert float(h100.read_bandwidth) == pytest.approx(3073e9, rel=1e-3)
    assert float(h100.dram_latency) == pytest.approx(326e-9)
    assert float(h100.launch_stream) == pytest.approx(2.1e-6)
    assert float(h100.smallest_gemv) == pytest.approx(2.6e-6)
    assert bool(h100.is_measured.all())


def test_decode_gpu_figures__where_nobody_measured_they_are_the_mean_of_the_others():
    t4 = FIGURES.sel(gpu="t4")
    assert not bool(t4.is_measured.any())
    hops = [measured("b200", "memory_hop"), measured("h100_sxm", "memory_hop")]
    assert float(t4.memory_hop) == pytest.approx(np.mean(hops))
    # A kernel of the same body behind the GPU's own launch.
    b200 = FIGURES.sel(gpu="b200")
    bodies = [2.45 - 1.32, 2.6 - 1.3]
    assert float(b200.smallest_gemv) == pytest.approx((0.8 + np.mean(bodies)) * 1e-6)


def test_decode_gpu_figures__pages_are_those_of_the_megakernel():
    pages = FIGURES.prefetch_pages
    assert pages.sel(gpu=["h100_sxm", "b200"]).values.tolist() == [13, 13]
    assert ((pages + 1) * PAGE_BYTES <= GPUS.smem_per_block_max).all()


def test_decode_gpu_figures__what_saturates_dram_is_what_the_probe_says():
    # Eight blocks of 256 threads with 16 B each.
    assert set(FIGURES.in_flight_pages.values.tolist()) == {2}


def test_decode_gpu_figures__figure_without_any_measurement_is_named():
    kept = MEASURED.isel(measurement=np.flatnonzero(MEASURED["metric"] != "memory_hop"))
    with pytest.raises(ModelError, match="nobody has measured memory_hop"):
        decode_gpu_figures(kept, GPUS)


def test_decode_gpu_figures__derived_rows_follow_from_the_published_breakdown():
    b200 = GPUS.sel(gpu="b200")
    made = program(LLAMA, lecture_step("fused"), Dealing(148, "contiguous", 16, 160, 1))
    per_sm = made.size / 148
    setup = measured("b200", "breakdown_setup_other") / per_sm
    sync = measured("b200", "breakdown_warp_sync") / per_sm
    products = measured("b200", "breakdown_rmsnorm_and_matvec")
    norm = 0.05 * products / (made.norms.sum() / 148)
    lanes = 148 * float(b200.fp32_lanes_per_sm * b200.clock_hz)
    rate = made.numbers[made.weight_bytes > 0].sum() / (0.95 * products) / lanes
    assert float(FIGURES.instruction_setup[0]) == pytest.approx(setup, rel=0.005)
    assert float(FIGURES.instruction_sync[0]) == pytest.approx(sync, rel=0.005)
    assert float(FIGURES.norm_time[0]) == pytest.approx(norm, rel=0.005)
    assert measured("b200", "numbers_per_lane_and_clock") == pytest.approx(rate, rel=0.005)


def test_machine__takes_the_figures_of_one_gpu():
    h100 = machine(FIGURES.sel(gpu="h100_sxm"))
    assert h100.bandwidth == float(FIGURES.read_bandwidth.sel(gpu="h100_sxm"))
    assert h100.signal == h100.fetch == pytest.approx(2 * 469e-9)
    assert (h100.pages, h100.page_bytes, h100.in_flight) == (13, 16384, 2)
