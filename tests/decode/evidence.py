"""The published measurements and the GPU sheets, read once."""

import numpy as np
import xarray as xr

from pipeline.decode.execution import Execution, gpu_costs
from pipeline.decode.gpu_figures import decode_gpu_figures
from pipeline.decode.number_format import NumberFormat
from pipeline.decode.operations import Formats
from pipeline.decode.step_times import Assumptions
from pipeline.decode.workload import Workload
from pipeline.hardware.gpus import gpus
from pipeline.hardware.plain_figures import side_by_side
from pipeline.hardware.sheet import load_sheets
from pipeline.measured.decode import decode_figures
from tests.decode.generators import DATA, MODELS, PLANS


def as_stored(dataset):
    """Give text the type that it has in a store."""
    text = {name for name, held in dataset.variables.items() if held.dtype.kind == "U"}
    indexed = {name for name in text if name in dataset.indexes}
    typed = {name: dataset[name].astype(np.dtypes.StringDType()) for name in text - indexed}
    return dataset.assign(typed)


SHEETS = load_sheets(DATA / "gpus")
GPUS = as_stored(gpus(SHEETS))
COSTS = xr.Dataset.from_dict(side_by_side(gpu_costs(SHEETS, SHEETS["h100_sxm"], own=False)))
MEASURED = as_stored(decode_figures(DATA / "measured/decode.csv"))
FIGURES = as_stored(decode_gpu_figures(MEASURED, GPUS))
KERNELS = Execution("7 kernels, CUDA graph", "kernels7", "graphs", prefetch=False)
MEGAKERNEL = Execution("megakernel", "fused", "megakernel", prefetch=True)
ASSUMPTIONS = Assumptions(
    ramp=1e-6, small=2e-6, sync=1e-6, instr_overhead=0.5e-6, eff=0.9, pages=13, page_bytes=16384
)


def workload(*models):
    chosen = {name: MODELS[name] for name in models or MODELS}
    published = {
        name: Formats(*[NumberFormat(model.data_type)] * 3) for name, model in chosen.items()
    }
    return Workload(chosen, published, PLANS, context=160, batch=1, rows_per_block=16)


LLAMA_ONLY = workload("llama_3_2_1b")
