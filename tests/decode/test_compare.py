import numpy as np
import pytest

from pipeline.decode.compare import KINDS, MODELS, Known, compare
from tests.decode.evidence import ASSUMPTIONS, COSTS, GPUS, KERNELS, MEASURED, MEGAKERNEL, workload


def known(measured=MEASURED, gpus=GPUS):
    costs = COSTS.sel(gpu=gpus["gpu"].values)
    return Known(measured, gpus, costs, workload(), KERNELS, MEGAKERNEL, ASSUMPTIONS)


@pytest.fixture(scope="module")
def compared():
    return compare(known())


def of(compared, model, **columns):
    chosen = np.ones(compared.sizes["measurement"], bool)
    for name, value in columns.items():
        chosen &= (compared[name] == value).values
    return compared.sel(decode_model=model).isel(measurement=np.flatnonzero(chosen))


def test_compare__bounds_are_no_points(compared):
    bound = compared.relation.isin(["above", "below"])
    assert compared.ratio.where(bound).isnull().all()
    assert compared.holds.where(~bound).isnull().all()
    assert set(np.unique(compared.holds.values[np.isfinite(compared.holds.values)])) == {0.0, 1.0}


def test_compare__mean_errors_are_those_of_the_rows(compared):
    for kind in KINDS:
        for model in MODELS:
            ratio = of(compared, model, kind=kind).ratio.values
            ratio = ratio[np.isfinite(ratio)]
            stored = compared.sel(kind_group=kind, decode_model=model)
            assert int(stored.compared) == ratio.size
            if ratio.size:
                assert float(stored.mape) == pytest.approx(np.abs(ratio - 1).mean())


def test_compare__keeps_what_is_published_of_the_megakernel(compared):
    rows = of(compared, "instruction", mode="megakernel", metric="step_time", relation="below")
    assert rows.gpu.values.tolist() == ["b200", "h100_sxm"]
    assert rows.holds.values.tolist() == [1.0, 1.0]
    (share,) = of(compared, "instruction", mode="megakernel", metric="bandwidth_utilisation").ratio
    assert float(share) == pytest.approx(1, abs=0.08)


def test_compare__stock_kernels_add_up_to_what_they_were_measured_at(compared):
    rows = of(compared, "instruction", metric="sum_of_kernel_times")
    assert rows.holds.values.tolist() == [1.0, 1.0]
    assert of(compared, "lecture", metric="sum_of_kernel_times").holds.values.tolist() == [0.0, 1.0]


def test_compare__other_models_and_types(compared):
    rates = of(compared, "instruction", workload="llama_3_1_8b", metric="step_rate")
    ratio = dict(zip(rates.dtype.values.tolist(), rates.ratio.values.tolist(), strict=True))
    assert ratio["bf16"] == pytest.approx(1, abs=0.05)
    # Kernels for int8 weights read with less of the bandwidth than those for bf16.
    assert 1.1 < ratio["int8"] < 1.4


def test_compare__instruction_level_is_closest_on_gemvs_and_on_megakernel_steps(compared):
    mape = compared.mape.sel(kind_group="gemv")
    assert mape.idxmin("decode_model").item() == "instruction"
    assert float(mape.sel(decode_model="instruction")) < 0.056


def test_compare__launch_is_predicted_from_other_gpus_alone(compared):
    (row,) = of(compared, "instruction", kind="launch", gpu="b200", mode="graph").predicted
    others = [1.3, 0.83, 1.32, 1.06, 1.24, 0.96]
    assert float(row) == pytest.approx(np.mean(others) * 1e-6)


def test_compare__without_gpus_that_were_measured_there_is_less_to_say():
    few = compare(known(gpus=GPUS.sel(gpu=["t4", "l40s"])))
    assert set(few.kind.values.tolist()) == {"launch"}
    assert few.mape.sel(kind_group="gemv").isnull().all()
