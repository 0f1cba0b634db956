import dask
import numpy as np
import pytest
import xarray as xr

from pipeline.errors import ModelError, VocabularyError
from pipeline.timing.dram import dram_bytes
from pipeline.timing.predict import predict
from pipeline.timing.resources import RESOURCES, Resource
from pipeline.vocab.predictions import PREDICTIONS

# The lecture's predictions at n = 4096, GFLOP/s and binding resource, k01 to k06.
LECTURE = {
    "rtx_a6000": "291 l1, 4820 l1, 4692 smem, 8369 smem, 12639 smem, 24287 smem",
    "h100_sxm": "503 l1, 8331 l1, 8110 smem, 14467 smem, 21848 smem, 41982 smem",
    "a100_sxm_40gb": "293 l1, 4854 l1, 4725 smem, 8429 smem, 12729 smem, 19492 fma",
}
COMPUTE = ("t_fma", "t_issue", "t_l1", "t_smem")
RATES = (
    "fp32_lanes_per_sm",
    "clock_hz",
    "issue_per_clk",
    "l1_lines_per_clk",
    "smem_wavefronts_per_clk",
    "dram_bandwidth",
)


def scaled(gpus, name, factor):
    return gpus.assign({name: gpus[name] * factor})


def refuse_to_compute(*args, **kwargs):
    raise AssertionError("predict computed something before it was asked to")


@pytest.mark.parametrize("gpu", LECTURE)
def test_predict__gives_the_table_of_the_lecture(gpu, counts, occupancy, gpus):
    row = predict(counts, occupancy, gpus).sel(gpu=gpu, n=4096).squeeze("method")
    printed = zip(row.gflops.to_numpy(), row.bound.to_numpy(), strict=True)
    assert ", ".join(f"{gflops:.0f} {bound}" for gflops, bound in printed) == LECTURE[gpu]


def test_predict__equals_the_formula_written_out_point_by_point(counts, occupancy, gpus):
    counts = xr.concat([counts, (counts * 0.1).assign_coords(n=[1000])], "n")
    counts["gatom_lines"] += 3e7
    counts["satom_wavefronts"] += 7e9
    # Some on tensor cores, of which a part of the multiply-adds is FP32.
    counts["mma_fma"] = counts["fma"] * xr.DataArray([0, 0, 0.9, 0, 1, 0.5], dims="kernel")
    occupancy["tile_n"] = 3 * occupancy.tile_m
    occupancy["element_bytes"] = ("kernel", [4, 4, 2, 4, 2, 1])
    predicted = predict(counts, occupancy, gpus)
    for kernel, gpu, n in np.ndindex(6, 3, 2):
        c = {name: float(counts[name][kernel, n, 0]) for name in counts}
        g = {name: float(gpus[name][gpu]) for name in gpus}
        size, tile = int(counts.n[n]), int(occupancy.tile_m[kernel])
        wave = int(occupancy.blocks_per_sm[kernel, gpu] * gpus.sm_count[gpu])
        traffic = dram_bytes(
            size,
            size,
            size,
            tile_m=tile,
            tile_n=3 * tile,
            wave=wave,
            element_bytes=int(occupancy.element_bytes[kernel]),
        )
        cycles = g["sm_count"] * g["clock_hz"]
        times = {
            "fma": (c["fma"] - c["mma_fma"]) / (cycles * g["fp32_lanes_per_sm"]),
            "tensor": 2 * c["mma_fma"] / g["peak_tensor_fp16_flops"],
            "issue": c["warp_instr"] / (cycles * 4),
            "l1": (c["gld_lines"] + c["gst_lines"] + c["gatom_lines"]) / cycles,
            "smem": (c["lds_wavefronts"] + c["sts_wavefronts"] + c["satom_wavefronts"]) / cycles,
            "dram": traffic / g["dram_bandwidth"],
        }
        here = predicted.isel(kernel=kernel, gpu=gpu, n=n, method=0)
        t = max(times.values())
        expected = {f"t_{name}": time for name, time in times.items()} | {
            "t": t,
            "gflops": 2 * c["fma"] / t / 1e9,
            "dram_bytes": traffic,
            "arithmetic_intensity": 2 * c["fma"] / traffic,
        }
        for name, value in expected.items():
            np.testing.assert_allclose(here[name], value, rtol=1e-14, err_msg=name)
        assert here.bound == max(times, key=times.get)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("factor", [1.25, 3])
def test_predict__a_faster_gpu_is_never_slower(rate, factor, counts, occupancy, gpus):
    faster = predict(counts, occupancy, scaled(gpus, rate, factor))
    assert (faster.t <= predict(counts, occupancy, gpus).t).all()


def test_predict__twice_the_clock_halves_all_but_dram(counts, occupancy, gpus):
    once = predict(counts, occupancy, gpus)
    twice = predict(counts, occupancy, scaled(gpus, "clock_hz", 2))
    for name in COMPUTE:
        np.testing.assert_array_equal(twice[name] * 2, once[name])
    np.testing.assert_array_equal(twice.t_dram, once.t_dram)


def test_predict__more_resident_blocks_move_only_dram(counts, occupancy, gpus):
    one = predict(counts, occupancy.assign(blocks_per_sm=occupancy.blocks_per_sm**0), gpus)
    # 2^14 blocks are more than any kernel has: A and B are read once, C is written once.
    many = predict(
        counts, occupancy.assign(blocks_per_sm=one.t.isel(n=0, method=0) * 0 + 2**14), gpus
    )
    for name in COMPUTE:
        np.testing.assert_array_equal(one[name], many[name])
    assert (many.dram_bytes == 3 * 4 * 4096**2).all()
    assert (one.dram_bytes > many.dram_bytes).all()


def test_predict__order_of_the_inputs_is_the_order_of_the_result(counts, occupancy, gpus):
    straight = predict(counts, occupancy, gpus)
    turned = predict(
        counts.isel(kernel=[5, 0]), occupancy.isel(gpu=[1, 2, 0]), gpus.isel(gpu=[2, 0])
    )
    xr.testing.assert_identical(turned, straight.isel(kernel=[5, 0], gpu=[2, 0]))


def test_bound__the_first_resource_wins_a_tie(counts, occupancy, gpus):
    twins = [Resource(name, name, {"fma": 1}, ("clock_hz",)) for name in ("left", "right")]
    for first, second in (twins, reversed(twins)):
        predicted = predict(counts, occupancy, gpus, resources=(first, second))
        assert (predicted.bound == first.id).all()


def test_bound__names_the_resource_that_takes_the_whole_time(counts, occupancy, gpus):
    # With so little DRAM bandwidth every resource but issue sets some time.
    predicted = predict(counts, occupancy, scaled(gpus, "dram_bandwidth", 0.2))
    for resource in RESOURCES:
        chosen = predicted.bound == resource.id
        assert (predicted[f"t_{resource.id}"] == predicted.t).where(chosen, True).all()
    assert set(predicted.bound.to_numpy().ravel()) >= {"dram", "smem", "l1"}


def test_predict__a_kernel_that_fits_no_sm_has_no_time(counts, occupancy, gpus):
    occupancy.blocks_per_sm.loc["k05_blocktile_2d", "h100_sxm"] = 0
    predicted = predict(counts, occupancy, gpus)
    nowhere = predicted.sel(kernel="k05_blocktile_2d", gpu="h100_sxm")
    assert (nowhere.bound == "none").all()
    assert all(nowhere[name].isnull().all() for name in predicted if name != "bound")
    rest = predicted.drop_sel(kernel="k05_blocktile_2d")
    assert not any(rest[name].isnull().any() for name in rest)
    assert "none" not in rest.bound.to_numpy()


def test_predict__another_resource_is_another_entry(counts, occupancy, gpus):
    l2 = Resource("l2", "L2 traffic", {"gld_sectors": 32, "gst_sectors": 32}, ("l2_bandwidth",))
    gpus = gpus.assign(l2_bandwidth=("gpu", [1e9, 1e9, 1e9]))
    predicted = predict(counts, occupancy, gpus, resources=(*RESOURCES, l2))
    sectors = counts.gld_sectors + counts.gst_sectors
    np.testing.assert_allclose(predicted.t_l2.isel(gpu=0), sectors * 32 / 1e9)
    assert (predicted.bound == "l2").all()
    assert predicted.t_l2.attrs["long_name"] == "time if L2 traffic alone set the pace"


def test_predict__is_lazy_on_chunks_and_equal_to_the_whole(counts, occupancy, gpus):
    whole = predict(counts, occupancy, gpus)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = predict(counts.chunk(kernel=4), occupancy.chunk(gpu=1), gpus.chunk(gpu=2))
    xr.testing.assert_identical(lazy.compute(scheduler="synchronous"), whole)


def test_predict__takes_text_as_stores_keep_it(counts, occupancy, gpus):
    def stored(data):
        text = [name for name in data.coords if data[name].dtype.kind in "OU"]
        return data.assign_coords(
            {name: data[name].astype(np.dtypes.StringDType()) for name in text}
        )

    predicted = predict(stored(counts), stored(occupancy), stored(gpus))
    xr.testing.assert_equal(predicted.gflops, predict(counts, occupancy, gpus).gflops)


def test_predict__result_explains_itself(counts, occupancy, gpus):
    predicted = predict(counts, occupancy, gpus)
    assert set(predicted.data_vars) <= PREDICTIONS.keys()
    for name in predicted.data_vars:
        assert predicted[name].dims == ("kernel", "gpu", "n", "method")
    for name in predicted.variables:
        assert predicted[name].attrs == PREDICTIONS[name].attrs
    assert set(predicted.coords) == {
        "kernel",
        "kernel_number",
        "kernel_label",
        "gpu",
        "gpu_name",
        "n",
        "method",
    }
    assert predicted.gflops.sel(gpu="h100_sxm", n=4096).dims == ("kernel", "method")


def test_predict__traffic_that_was_counted_is_taken_as_it_is(counts, occupancy, gpus):
    counted = xr.full_like(counts["fma"], 1e9)
    predicted = predict(counts.assign(compulsory_bytes=counted), occupancy, gpus)
    assert (predicted["dram_bytes"] == 1e9).all()
    xr.testing.assert_allclose(
        predicted["t_dram"].isel(kernel=0, n=0, method=0).reset_coords(drop=True),
        (1e9 / gpus["dram_bandwidth"]).reset_coords(drop=True),
    )
    assert "every array passes once" in predicted["dram_bytes"].attrs["long_name"]


def test_predict__names_the_variables_that_an_input_lacks(counts, occupancy, gpus):
    with pytest.raises(VocabularyError, match="counts lacks the variables gld_lines, warp_instr"):
        predict(counts.drop_vars(["warp_instr", "gld_lines"]), occupancy, gpus)
    with pytest.raises(
        VocabularyError, match="occupancy lacks the variables element_bytes, tile_m"
    ):
        predict(counts, occupancy.drop_vars(["tile_m", "element_bytes"]), gpus)
    with pytest.raises(VocabularyError, match="gpus lacks the variables clock_hz; it has dram_"):
        predict(counts, occupancy, gpus.drop_vars("clock_hz"))


def test_predict__names_the_dimensions_that_an_input_lacks(counts, occupancy, gpus):
    with pytest.raises(VocabularyError, match=r"counts has no coordinate n, method; .*one element"):
        predict(counts.isel(n=0, method=0), occupancy, gpus)
    with pytest.raises(VocabularyError, match="occupancy has no coordinate gpu"):
        predict(counts, occupancy.isel(gpu=0), gpus)
    with pytest.raises(VocabularyError, match="gpus has no coordinate gpu"):
        predict(counts, occupancy, gpus.isel(gpu=0))


def test_predict__names_kernels_and_gpus_without_occupancy(counts, occupancy, gpus):
    with pytest.raises(ModelError, match="counts has kernel k01_naive, occupancy has only k02"):
        predict(counts, occupancy.isel(kernel=slice(1, None)), gpus)
    with pytest.raises(ModelError, match="gpus has gpu h100_sxm, occupancy has only rtx_a6000"):
        predict(counts, occupancy.sel(gpu=["rtx_a6000", "a100_sxm_40gb"]), gpus)
