import numpy as np
import pytest

from pipeline.errors import DataError
from pipeline.measured.decode import UNITS, DecodeMeasurement, decode_figures
from tests.workflow.scratch import CHECKOUT

TABLE = CHECKOUT / "data/measured/decode.csv"
HEADER = ",".join(DecodeMeasurement.model_fields)
ROW = "toy_1,gemv,2048,4096,bf16,1,blas 1,graph,kernel_time,equal,12.5,us,toy report p. 3,"


def read(tmp_path, *lines):
    path = tmp_path / "decode.csv"
    path.write_text("\n".join(lines) + "\n")
    return decode_figures(path)


def test_decode_figures__published_table_is_read_whole():
    figures = decode_figures(TABLE)
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    assert figures.sizes == {"measurement": len(lines) - 1}
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in figures.variables.values())
    assert set(figures.unit.values) <= set(UNITS)


def test_decode_figures__table_is_sorted_so_that_a_diff_shows_what_is_new():
    figures = decode_figures(TABLE)
    columns = (
        "gpu",
        "workload",
        "rows",
        "columns",
        "dtype",
        "engine",
        "mode",
        "metric",
        "relation",
    )
    keys = list(zip(*(figures[name].fillna(0).values.tolist() for name in columns), strict=True))
    assert keys == sorted(keys)


def test_decode_figures__figures_are_in_si_units(tmp_path):
    bound = "toy_1,toy_model,,,,,,megakernel,step_time,below,2,ms,toy report p. 4,roughly"
    share = "toy_1,stream,,,,,,,bandwidth_utilisation,about,78,%,toy report p. 4,"
    figures = read(tmp_path, HEADER, ROW, bound, share)
    np.testing.assert_allclose(figures.measured, [12.5e-6, 2e-3, 0.78])
    np.testing.assert_array_equal(figures.rows, [2048, np.nan, np.nan])
    assert figures.relation.values.tolist() == ["equal", "below", "about"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("12.5", "<12.5", "column value: '<12.5' is not allowed"),
        ("12.5", "0", "column value: '0' is not allowed"),
        (",us,", ",hours,", "column unit: 'hours' is not allowed"),
        ("equal", "roughly", "column relation: 'roughly' is not allowed"),
        ("toy_1", "Toy 1", "column gpu: 'Toy 1' is not allowed"),
        ("toy report p. 3", "me", "column source: 'me' is not allowed"),
    ],
)
def test_decode_figures__wrong_value_is_named(tmp_path, old, new, where):
    with pytest.raises(DataError, match="line 2") as raised:
        read(tmp_path, HEADER, ROW.replace(old, new))
    assert where in str(raised.value)


def test_decode_figures__two_rows_about_one_figure_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"toy_1 gemv 2048 4096 .* stands in more than one line"):
        read(tmp_path, HEADER, ROW, ROW.replace("12.5", "13"))
