import subprocess
import sys
import textwrap
from pathlib import Path

import xarray as xr

from pipeline.hardware.plain_figures import alone, side_by_side

ROWS = {
    "a": {"gpu_name": "A", "sm_count": 84, "launch_source": "B"},
    "b": {"gpu_name": "B", "sm_count": 132, "launch_source": "B"},
}


def test_side_by_side__reads_back_as_a_dataset_over_the_gpus():
    expected = xr.Dataset(
        {"sm_count": ("gpu", [84, 132]), "launch_source": ("gpu", ["B", "B"])},
        coords={"gpu": ["a", "b"], "gpu_name": ("gpu", ["A", "B"])},
    )
    assert xr.Dataset.from_dict(side_by_side(ROWS)).identical(expected)
    some = xr.Dataset.from_dict(side_by_side(ROWS, ["sm_count"]))
    assert some.identical(expected[["sm_count"]])


def test_alone__is_the_gpu_chosen_from_all():
    chosen = xr.Dataset.from_dict(side_by_side(ROWS)).sel(gpu="b")
    assert xr.Dataset.from_dict(alone("b", ROWS["b"])).identical(chosen)


def test_plan__of_gpus_loads_no_dask():
    # Snakemake reads the Snakefile at every start, also where there is nothing to do.
    code = """
    import sys
    from pathlib import Path
    from pipeline.config.parameters import launch_values, occupancy_figures, replay_values
    from pipeline.decode.execution import gpu_costs
    from pipeline.hardware.plain_figures import alone, side_by_side
    from pipeline.hardware.sheet import load_sheets
    sheets = load_sheets(Path("data/gpus"), ["h100_sxm", "t4"])
    costs = gpu_costs(sheets, sheets["h100_sxm"], own=True)
    side_by_side(costs), alone("t4", costs["t4"])
    occupancy_figures(sheets), replay_values(sheets), launch_values({"k01_naive": {}})
    print({"dask.array", "distributed"} & set(sys.modules))
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "set()"
