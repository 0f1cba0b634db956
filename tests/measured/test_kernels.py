import re
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import DataError
from pipeline.measured.kernels import (
    ClaimedReads,
    Measurement,
    ProfilerCounter,
    claimed_reads,
    nsight_counters,
    sgemm_rates,
)

TABLE = Path(__file__).parents[2] / "data/measured/sgemm_ladder.csv"
HEADER = ",".join(Measurement.model_fields)
ROW = 'toy_1,k03_smem,4096,32,32,32,,,,1,1,1024,2980.3,"toy report, p. 3",none'


def read(tmp_path, *lines):
    path = tmp_path / "rates.csv"
    path.write_text("\n".join(lines) + "\n")
    return sgemm_rates(path)


def test_sgemm_rates__published_table_is_read_whole():
    rates = sgemm_rates(TABLE)
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    assert rates.sizes == {"measurement": len(lines) - 1}
    a6000 = rates.measured_gflops.sel(measurement="rtx_a6000 k01_naive 4096")
    assert float(a6000) == 309.0
    assert rates.n.dtype == np.int64
    assert rates.measured_gflops.attrs["units"] == "GFLOP/s"
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in rates.variables.values())


def test_sgemm_rates__table_is_sorted_so_that_a_diff_shows_what_is_new():
    rates = sgemm_rates(TABLE)
    keys = list(zip(rates.gpu.to_numpy(), rates.kernel.to_numpy(), rates.n.to_numpy(), strict=True))
    assert keys == sorted(keys)


def test_sgemm_rates__what_is_not_stated_is_nan_and_notes_are_skipped(tmp_path):
    cublas = "toy_1,cublas,4096,,,,,,,,,,5e3,toy report p. 4,"
    rates = read(tmp_path, "# a note", HEADER, ROW, "", cublas)
    np.testing.assert_array_equal(rates.bm, [32, np.nan])
    np.testing.assert_array_equal(rates.threads_per_block, [1024, np.nan])
    assert rates.source.to_numpy()[0] == "toy report, p. 3"
    assert rates.measured_gflops.to_numpy()[1] == 5000.0


def test_sgemm_rates__column_without_gaps_has_the_same_type(tmp_path):
    assert read(tmp_path, HEADER, ROW).bm.dtype == np.float64


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("2980.3", "-1", "column gflops: '-1' is not allowed; input should be greater than 0"),
        ("2980.3", "nan", "column gflops: 'nan' is not allowed"),
        ("2980.3", "fast", "column gflops: 'fast' is not allowed"),
        ("2980.3", "", "column gflops: '' is not allowed"),
        ("4096", "4096.5", "column n: '4096.5' is not allowed"),
        ("4096", "2147483649", "column n: '2147483649' is not allowed; input should be less than"),
        ("4096", "9" * 5000, "column n: '999"),
        ("none", "no\0ne", "line 4: holds a null byte; save the table as text"),
        ("none", "x" * 200_000, "line 4: cannot be taken apart (field larger than field limit"),
        ("toy_1", "Toy 1", "column gpu: 'Toy 1' is not allowed"),
        ('"toy report, p. 3"', "web", "column source: 'web' is not allowed"),
        (",32,32,32,", ",32,32,-8,", "column bk: '-8' is not allowed"),
        ('"toy report, p. 3"', "toy report, p. 3", "16 values, but there are 15 columns"),
    ],
)
def test_sgemm_rates__names_file_line_and_column(tmp_path, old, new, where):
    with pytest.raises(DataError) as caught:
        read(tmp_path, "# note", HEADER, "", ROW.replace(old, new, 1))
    assert "rates.csv, line 4" in str(caught.value)
    assert where in str(caught.value)


def test_sgemm_rates__line_number_after_a_quoted_line_break(tmp_path):
    with pytest.raises(DataError, match="line 4, column n"):
        read(
            tmp_path,
            HEADER,
            ROW.replace("none", '"two\nlines"'),
            "a,b,x" + ",1" * 9 + ",1,source one,",
        )


@pytest.mark.parametrize("header", ["", HEADER.replace("gflops", "tflops"), HEADER + ",extra"])
def test_sgemm_rates__refuses_other_columns(tmp_path, header):
    with pytest.raises(DataError, match="they must be gpu, kernel, n"):
        read(tmp_path, header, ROW)


def test_sgemm_rates__refuses_two_rows_about_the_same(tmp_path):
    with pytest.raises(DataError, match=r"toy_1 k03_smem 4096 .* more than one line"):
        read(tmp_path, HEADER, ROW, ROW.replace("2980.3", "1"))


def test_sgemm_rates__refuses_an_empty_table(tmp_path):
    with pytest.raises(DataError, match="no measurement below the header"):
        read(tmp_path, HEADER)


def test_sgemm_rates__refuses_what_is_no_text(tmp_path):
    (tmp_path / "rates.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        sgemm_rates(tmp_path / "rates.csv")
    with pytest.raises(DataError, match="cannot be read"):
        sgemm_rates(tmp_path / "none.csv")


COUNTERS = Path(__file__).parents[2] / "data/measured/nsight_counters_a100.csv"
COUNTER_HEADER = ",".join(ProfilerCounter.model_fields)
COUNTER = 'toy_1,k03_smem,4096,warps [warp],12.5,"toy report, p. 3",none'


def read_counters(tmp_path, *lines):
    path = tmp_path / "counters.csv"
    path.write_text("\n".join(lines) + "\n")
    return nsight_counters(path)


def test_nsight_counters__published_table_is_read_whole_and_sorted():
    counters = nsight_counters(COUNTERS)
    lines = [line for line in COUNTERS.read_text().splitlines() if not line.startswith("#")]
    assert counters.sizes == {"measurement": len(lines) - 1}
    columns = (counters[name].to_numpy() for name in ("gpu", "kernel", "n", "metric"))
    keys = list(zip(*columns, strict=True))
    assert keys == sorted(keys)
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in counters.variables.values())


def test_nsight_counters__values_keep_their_metric(tmp_path):
    counters = read_counters(tmp_path, COUNTER_HEADER, COUNTER, COUNTER.replace("warps", "blocks"))
    assert counters.metric.to_numpy().tolist() == ["warps [warp]", "blocks [warp]"]
    np.testing.assert_array_equal(counters.measured, 12.5)
    assert counters.n.dtype == np.int64


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("12.5", "-1", "line 2, column value: '-1' is not allowed; input should be greater than"),
        ("12.5", "", "line 2, column value: '' is not allowed"),
        ("warps [warp]", "", "line 2, column metric: '' is not allowed"),
        ("k03_smem", "K3", "line 2, column kernel: 'K3' is not allowed"),
        ("none", "a,b", "line 2: 8 values, but there are 7 columns"),
    ],
)
def test_nsight_counters__names_file_line_and_column(tmp_path, old, new, where):
    with pytest.raises(DataError, match=re.escape(where)):
        read_counters(tmp_path, COUNTER_HEADER, COUNTER.replace(old, new, 1))


def test_nsight_counters__refuses_other_tables_and_double_rows(tmp_path):
    with pytest.raises(DataError, match="they must be gpu, kernel, n, metric, value"):
        read_counters(tmp_path, HEADER, ROW)
    with pytest.raises(DataError, match=r"\(GPU, kernel, n, metric\) stands in more than one"):
        read_counters(tmp_path, COUNTER_HEADER, COUNTER, COUNTER)


CLAIMS = Path(__file__).parents[2] / "data/measured/smem_reads.csv"
CLAIM_HEADER = ",".join(ClaimedReads.model_fields)
CLAIM = 'k04_blocktile_1d,1.125,K*9/8 per result,"toy article, part 4"'


def read_claims(tmp_path, *lines):
    path = tmp_path / "claims.csv"
    path.write_text("\n".join(lines) + "\n")
    return claimed_reads(path)


def test_claimed_reads__published_table_is_read_whole():
    claims = claimed_reads(CLAIMS)
    assert claims.reads_per_fma.to_series().to_dict() == {
        "k03_smem": 2.0, "k04_blocktile_1d": 1.125, "k05_blocktile_2d": 0.25,
    }  # fmt: skip
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in claims.variables.values())


def test_claimed_reads__names_what_is_wrong(tmp_path):
    with pytest.raises(DataError, match="line 2, column reads_per_fma: '0' is not allowed"):
        read_claims(tmp_path, CLAIM_HEADER, CLAIM.replace("1.125", "0"))
    with pytest.raises(DataError, match=r"k04_blocktile_1d \(kernel\) stands in more than one"):
        read_claims(tmp_path, CLAIM_HEADER, CLAIM, CLAIM)
