"""Small results by hand, in the shape of the real stores; numbers as the lecture has them."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.counting.measured_counters import compare_counters
from pipeline.hardware.gpus import gpus as sheet_figures
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.hardware.sheet import load_sheets
from pipeline.kernels import matmul
from pipeline.kernels.registry import KERNELS
from pipeline.measured.kernels import nsight_counters, sgemm_rates
from pipeline.tensor_core.fragment_results import fragments
from pipeline.tensor_core.ldmatrix_results import ldmatrix
from pipeline.timing.compare import compare_rates
from pipeline.vocab.gpus import FIGURES
from tests.artifacts.fixtures_block_programs import block_programs

REFERENCE = Path(__file__).parents[1] / "data/reference_counters.csv"
DATA = Path(__file__).parents[2] / "data"
SIZES = (128, 256, 384, 512, 640, 768, 1024, 1280)
HELD_OUT = 640
LARGE = (1024, 4096)
PARAMETERS = {
    "gpu": "rtx_a6000",
    "shown_gpus": ["rtx_a6000", "a100_sxm_40gb", "h100_sxm"],
    "small_n": 128,
    "second_n": 256,
    "large_n": 4096,
}

# id: label, threads, tile_m, tile_n, shared B, registers, multiple of m, n and k; A and B are of 4
# bytes an element and any GPU will do, but for those in ELEMENT_BYTES and CAPABILITY_MIN
LADDER = {
    "k01_naive": ("naive", 1024, 32, 32, 0, 32, 1, 1, 1),
    "k02_coalesced": ("coalesced", 1024, 32, 32, 0, 32, 1, 1, 1),
    "k03_smem": ("shared memory", 1024, 32, 32, 8192, 40, 32, 32, 32),
    "k04_blocktile_1d": ("1D block tiling", 512, 64, 64, 4096, 48, 64, 64, 8),
    "k05_blocktile_2d": ("2D block tiling", 256, 128, 128, 8192, 128, 128, 128, 8),
    "k06_vectorized": ("vectorized", 256, 128, 128, 8192, 128, 128, 128, 8),
    "k07_banks_linearized": ("banks linearized", 256, 128, 128, 8192, 128, 128, 128, 8),
    "k08_banks_padded": ("banks padded", 256, 128, 128, 8352, 128, 128, 128, 8),
    "k09_autotuned": ("autotuned", 256, 128, 128, 16384, 128, 128, 128, 16),
    "k10_warptiled": ("warp tiling", 128, 128, 128, 16384, 168, 128, 128, 16),
    "k11_double_buffered": ("double buffering", 256, 128, 256, 49152, 176, 128, 256, 16),
    "k12_double_buffered_async": ("async copies", 128, 128, 128, 32768, 192, 128, 128, 16),
    "k13_tensor_core": ("tensor cores", 128, 128, 128, 32768, 168, 128, 128, 64),
}
ELEMENT_BYTES = {"k13_tensor_core": 2}
CAPABILITY_MIN = {"k13_tensor_core": 80}
FACTS = (
    "threads_per_block", "tile_m", "tile_n", "smem_bytes", "registers_per_thread",
    "multiple_m", "multiple_n", "multiple_k",
)  # fmt: skip
ERRORS = (2.1e-5, 2.1e-5, 2.1e-5, 2.1e-5, 2.1e-5, *[2.4e-5] * 8)

# id: name, capability, SMs, lanes, Hz, B/s, L2 MiB, shared KiB per SM, warps, blocks, tensor FLOP/s
CARDS = {
    "rtx_a6000": ("RTX A6000", "8.6", 84, 128, 1.80e9, 768e9, 6, 100, 48, 16, 154.8e12),
    "a100_sxm_40gb": ("A100 SXM 40 GB", "8.0", 108, 64, 1.41e9, 1.555e12, 40, 164, 64, 32, 312e12),
    "h100_sxm": ("H100 SXM", "9.0", 132, 128, 1.98e9, 3.35e12, 50, 228, 64, 32, 989.4e12),
}
# kernel: published GFLOP/s on the three cards
PUBLISHED = {
    "k01_naive": (309.0, 292.1, 498.7),
    "k02_coalesced": (1986.5, 3119.0, 6048.1),
    "k03_smem": (2980.3, 5451.9, 9189.8),
    "k04_blocktile_1d": (8474.7, 10368.6, 17152.5),
    "k05_blocktile_2d": (15971.7, 14155.1, 25860.5),
    "k06_vectorized": (18237.3, 15296.5, 31626.7),
    "k07_banks_linearized": (16213.4, 15171.3, None),
    "k08_banks_padded": (16459.2, 15086.2, None),
    "k09_autotuned": (19721.0, 16344.1, 31264.4),
    "k10_warptiled": (21779.3, 17806.7, 36318.5),
    "k11_double_buffered": (17278.3, None, None),
    "cublas": (23249.6, 19029.5, 50989.4),
}


def labelled(dataset):
    for name in dataset.variables:
        dataset[name].attrs.setdefault("units", "1")
        dataset[name].attrs.setdefault("long_name", str(name))
    return dataset


def ladder_coordinates():
    return {
        "kernel": list(LADDER),
        "kernel_number": ("kernel", np.arange(1, len(LADDER) + 1)),
        "kernel_label": ("kernel", [facts[0] for facts in LADDER.values()]),
    }


def gpus():
    columns = list(zip(*CARDS.values(), strict=True))
    given = {
        "sm_count": columns[2],
        "fp32_lanes_per_sm": columns[3],
        "clock_hz": columns[4],
        "dram_bandwidth": columns[5],
        "l2_bytes": [mib * 2**20 for mib in columns[6]],
        "smem_per_sm": [kib * 1024 for kib in columns[7]],
        "smem_per_block_max": [(kib - 1) * 1024 for kib in columns[7]],
        "max_warps_per_sm": columns[8],
        "max_threads_per_sm": [32 * warps for warps in columns[8]],
        "max_blocks_per_sm": columns[9],
        "peak_tensor_fp16_flops": columns[10],
    }
    same = {
        "warp_size": 32, "max_threads_per_block": 1024, "registers_per_sm": 65536,
        "registers_per_block_max": 65536, "registers_per_thread_max": 255,
        "register_allocation_unit": 256, "warp_allocation_unit": 4,
        "smem_reserved_per_block": 1024, "smem_allocation_unit": 128,
        "issue_per_clk": 4, "l1_lines_per_clk": 1, "smem_wavefronts_per_clk": 1,
    }  # fmt: skip
    figures = {name: given.get(name, [same.get(name)] * len(CARDS)) for name in FIGURES}
    dataset = xr.Dataset(
        {name: ("gpu", np.array(values)) for name, values in figures.items()},
        coords={
            "gpu": list(CARDS),
            "gpu_name": ("gpu", list(columns[0])),
            "compute_capability": ("gpu", list(columns[1])),
        },
    )
    lanes = dataset.sm_count * dataset.fp32_lanes_per_sm
    dataset["peak_fp32_flops"] = 2 * lanes * dataset.clock_hz
    for name in FIGURES:
        for gpu, card in CARDS.items():
            page = "p. 3" if name == "clock_hz" else "p. 2"
            dataset[name].attrs[f"source_{gpu}"] = f"{card[0]} data sheet, {page}"
    return labelled(dataset)


def launches():
    columns = list(zip(*LADDER.values(), strict=True))[1:]
    facts = {
        name: ("kernel", np.array(values)) for name, values in zip(FACTS, columns, strict=True)
    } | {
        "element_bytes": ("kernel", [ELEMENT_BYTES.get(kernel, 4) for kernel in LADDER]),
        "capability_min": ("kernel", [CAPABILITY_MIN.get(kernel, 0) for kernel in LADDER]),
    }
    return labelled(xr.Dataset(facts, coords=ladder_coordinates()))


def occupancy():
    facts = launches()
    dataset = ladder_occupancy(facts, gpus())
    multiples = ["multiple_m", "multiple_n", "multiple_k"]
    return labelled(dataset.assign({name: facts[name] for name in multiples}))


def _polynomials():
    """Coefficients of n cubed and n squared of every counter, from two sizes: (kernel, counter)."""
    counted = pd.read_csv(REFERENCE, comment="#").set_index(["kernel", "n"])
    # The kernels that the lecture counted copy nothing asynchronously, and use no tensor cores.
    later = ("ldgsts_instr", "ldmatrix_instr", "ldmatrix_wavefronts", "mma_instr", "mma_fma")
    table = counted.assign(**dict.fromkeys(later, 0))
    small, large = (table.xs(n, level="n") for n in (128, 256))
    beyond = [kernel for kernel in LADDER if kernel not in small.index]
    parts = [_cubics(small, large, 128), _cubics(*_counted(beyond, small.columns), 256)]
    return tuple(pd.concat(both).loc[list(LADDER)] for both in zip(*parts, strict=True))


def _cubics(small, large, n):
    """Coefficients of n cubed and n squared, from counts at n and 2 n."""
    cubic = (large - 4 * small) / (8 * n**3 - 4 * n**3)
    return cubic, (small - cubic * n**3) / n**2


@cache
def _count(kernel, n):
    return matmul.counts(KERNELS[kernel], n, n, n).counters


def _counted(kernels, columns):
    """Counts of kernels that the lecture did not count, at the sizes that all of them take."""
    return (
        pd.DataFrame([_count(kernel, n) for kernel in kernels], kernels)[columns]
        for n in (256, 512)
    )


def _evaluated(sizes):
    cubic, square = _polynomials()
    n = xr.DataArray(np.array(sizes), dims="n", coords={"n": list(sizes)})
    return {
        name: (
            xr.DataArray(cubic[name].to_numpy(), dims="kernel") * n**3
            + xr.DataArray(square[name].to_numpy(), dims="kernel") * n**2
        )
        for name in cubic
    }


def counts():
    exact = _evaluated(SIZES)
    dataset = xr.Dataset(exact, coords=ladder_coordinates()).round().astype(np.int64)
    step = launches()[["multiple_m", "multiple_n", "multiple_k"]].to_array().max("variable")
    dataset["simulated"] = (dataset.n % step == 0).drop_attrs().transpose(*dataset.fma.dims)
    dataset = (
        dataset.where(dataset.simulated, 0).astype(np.int64).assign(simulated=dataset.simulated)
    )
    error = xr.DataArray(list(ERRORS), dims="kernel")
    dataset["max_abs_error"] = (error * np.sqrt(dataset.n / 128)).where(dataset.simulated)
    return labelled(dataset)


def _special_sizes(kernel):
    """The size that scaling starts from and the one held out; k11 takes multiples of 256 only."""
    return (256, 1280) if kernel == "k11_double_buffered" else (128, HELD_OUT)


def extrapolation():
    exact = xr.Dataset(_evaluated(LARGE))
    n = xr.DataArray(np.array(LARGE), dims="n", coords={"n": list(LARGE)})
    first = xr.DataArray([_special_sizes(kernel)[0] for kernel in LADDER], dims="kernel")
    base = xr.concat(
        [
            xr.Dataset(_evaluated((int(size),))).isel(kernel=row, n=0, drop=True)
            for row, size in enumerate(first)
        ],
        "kernel",
    )
    both = xr.concat([base * (n / first) ** 3, exact], "method")
    dataset = both.assign_coords(method=["per_fma", "polynomial"], **ladder_coordinates())
    dataset = dataset.transpose("kernel", "n", "method")
    sizes = np.array([_special_sizes(kernel) for kernel in LADDER])
    dataset["per_fma_base_n"], dataset["held_out_n"] = (("kernel", one) for one in sizes.T)
    error = np.stack([sizes[:, 1] / sizes[:, 0] - 1, np.zeros(len(LADDER))], axis=-1)
    dataset["held_out_error"] = (("kernel", "method"), error)
    names = np.array([["gst_lines", "none"]] * len(LADDER))
    dataset["held_out_counter"] = (("kernel", "method"), names)
    return labelled(dataset.assign_attrs(held_out=HELD_OUT, per_fma_base=128))


def predictions():
    counted, cards, resident = extrapolation(), gpus(), occupancy()
    cards = cards.drop_attrs().reset_coords(drop=True)
    n = counted.n
    cycles = cards.sm_count * cards.clock_hz
    # Blocks of a wave as a square of tiles: near enough to the traffic for a picture.
    side = np.sqrt(resident.blocks_per_sm * cards.sm_count).clip(max=n / resident.tile_m)
    traffic = 2 * resident.element_bytes * n**3 / (side * resident.tile_m) + 4 * n**2
    times = {
        "fma": (counted.fma - counted.mma_fma) / (cards.fp32_lanes_per_sm * cycles),
        "tensor": 2 * counted.mma_fma / cards.peak_tensor_fp16_flops,
        "issue": counted.warp_instr / (4 * cycles),
        "l1": (counted.gld_lines + counted.gst_lines) / cycles,
        "smem": (counted.lds_wavefronts + counted.sts_wavefronts) / cycles,
        "dram": traffic / cards.dram_bandwidth + 0 * counted.fma,
    }
    every = xr.concat(list(times.values()), pd.Index(list(times), name="resource"))
    every = every.transpose("resource", "kernel", "gpu", "n", "method")
    dataset = xr.Dataset({f"t_{name}": time for name, time in times.items()})
    dataset["t"] = every.max("resource")
    names = np.array(list(times))[every.argmax("resource").to_numpy()]
    dataset["bound"] = (("kernel", "gpu", "n", "method"), names)
    dataset["gflops"] = 2 * n**3 / dataset.t / 1e9
    dataset["dram_bytes"] = traffic + 0 * counted.fma
    dataset["arithmetic_intensity"] = 2 * n**3 / dataset.dram_bytes
    dataset = dataset.transpose("kernel", "gpu", "n", "method").reset_coords(drop=True)
    named = {"gpu_name": ("gpu", [card[0] for card in CARDS.values()])}
    return labelled(dataset.assign_coords(**ladder_coordinates(), **named))


def hazards():
    variants = ["k03_smem", "k03_smem_no_first_sync", "k03_smem_no_second_sync"]
    raw = np.array([[0, 0], [2048, 16384], [0, 0]])
    war = np.array([[0, 0], [0, 0], [48, 448]])
    kinds = {"raw_races": raw, "war_races": war, "waw_races": np.zeros_like(raw)}
    kinds = {"race_count": raw + war, **kinds}
    return labelled(
        xr.Dataset(
            {name: (("variant", "n"), values) for name, values in kinds.items()},
            coords={"variant": variants, "n": [128, 256]},
        )
    )


def measured():
    rows = [
        (gpu, kernel, 4096, rates[column])
        for column, gpu in enumerate(CARDS)
        for kernel, rates in PUBLISHED.items()
        if rates[column] is not None
    ]
    rows.append(("rtx_4090", "cublas", 4096, 49305.6))
    rows.append(("rtx_a6000", "k01_naive", 1024, 300.0))
    columns = dict(
        zip(("gpu", "kernel", "n", "measured_gflops"), zip(*rows, strict=True), strict=True)
    )
    variables = {name: ("measurement", np.array(values)) for name, values in columns.items()}
    ids = [f"{gpu} {kernel} {n}" for gpu, kernel, n, _ in rows]
    return labelled(xr.Dataset(variables, coords={"measurement": ids}))


def counters_measured():
    """The real comparison: it takes a second, and its words depend on the numbers."""
    profiled = nsight_counters(DATA / "measured/nsight_counters_a100.csv")
    sheets = load_sheets(DATA / "gpus", ["a100_sxm_80gb"])
    return compare_counters(profiled, sheet_figures(sheets))


def validation():
    """The real comparison, on the three cards, with replays that are a little off."""
    return _validation().copy(deep=True)


@cache
def _validation():
    rates = sgemm_rates(DATA / "measured/sgemm_ladder.csv")
    replays = {"sm_replay": replayed(rates)}
    return compare_rates(
        rates, sheet_figures(load_sheets(DATA / "gpus", list(CARDS))), row_by_row=replays
    )


def replayed(rates):
    """Replays of published rates by hand; libraries have none."""
    number = np.arange(rates.sizes["measurement"])
    off = (7 * number % 17 - 8) / 100
    known = np.isin(rates["kernel"], list(LADDER))
    return xr.Dataset(
        {
            "predicted_gflops": (rates["measured_gflops"] * (1 + off)).where(known),
            "bound": ("measurement", np.where(known, "fma_heavy", "none")),
        },
        {"measurement": rates["measurement"]},
    )


STORES = {
    "validation": validation,
    "counters_measured": counters_measured,
    "gpus": gpus,
    "gpu_limits": gpus,
    "counts": counts,
    "hazards": hazards,
    "extrapolation": extrapolation,
    "occupancy": occupancy,
    "predictions": predictions,
    "measured": measured,
    "tensor_core/fragments": fragments,
    "tensor_core/ldmatrix": ldmatrix,
    "block_programs": block_programs,
}
