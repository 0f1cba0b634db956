import json

import pandas as pd
import pytest

from pipeline.claims.claim import Claim, Finding, NotApplicableError, at_least, exactly
from pipeline.claims.judge import judge
from pipeline.claims.report import summary, told, write_claims
from pipeline.render.column import MISSING
from pipeline.words import english


def fails(counts):
    return Finding({"x": exactly(3, 2)})


def holds(small_n, gpu):
    return Finding({"x": exactly(small_n, 8), "y": at_least(1.5, 1)}, {"gpu": gpu})


def is_not_applicable(counts):
    raise NotApplicableError("The ladder has no {label}.", label="<b>")


def made(*checks):
    claims = [
        Claim(check.__name__, 10, ("counters", "gpus"), "It is {x:.0f}.", check) for check in checks
    ]
    return judge(claims, {"counts": None}, {10: {"small_n": 8, "gpu": "a"}})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    write_claims(made(holds, fails, is_not_applicable), [folder / "c.csv", folder / "c.json"])
    return folder


def test_csv__a_row_per_claim(written):
    frame = pd.read_csv(written / "c.csv", keep_default_na=False, dtype=str)
    assert frame["id"].tolist() == ["holds", "fails", "is_not_applicable"]
    assert frame["holds"].tolist() == ["yes", "no", "not applicable"]
    assert frame["artifacts"].tolist() == ["counters gpus"] * 3
    assert frame["statement"].tolist() == ["It is 8.", "It is 3.", f"It is {MISSING}."]
    assert frame["value"].tolist() == ["8.0; 1.5", "3.0", ""]
    assert frame["lower"].tolist() == ["8; 1", "2", ""]
    assert frame["upper"].tolist() == ["8; ", "2", ""]
    assert frame["reason"].tolist() == ["", "", "The ladder has no <b>."]
    assert "statement_zh" in frame


def test_json__holds_what_a_page_needs(written):
    page = json.loads((written / "c.json").read_text(encoding="utf-8"))
    assert page["counts"] == {"yes": 1, "no": 1, "not applicable": 1}
    first, second, third = page["claims"]
    assert first["measures"][1] == {"name": "y", "value": 1.5, "lower": 1, "upper": None}
    assert first["parameters"] == {"small_n": 8, "gpu": "a"}
    assert second["needs"] == {"counts": "results/counts.zarr"}
    assert third["measures"] == []
    assert third["reason"]["en"] == "The ladder has no <b>."
    assert set(first["statement"]) == {"en", "zh"}


def test_files__same_bytes_each_time(written, tmp_path):
    write_claims(made(holds, fails, is_not_applicable), [tmp_path / "c.csv", tmp_path / "c.json"])
    for name in ("c.csv", "c.json"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes()


def test_summary__names_what_does_not_hold(written):
    assert summary(made(holds, holds), english) == "2 claims hold."
    assert summary(made(holds, fails), english) == "1 claims hold, 1 does not: fails."
    assert summary(made(fails, fails), english) == "0 claims hold, 2 do not: fails, fails."
    many = summary(made(*[fails] * 7), english)
    assert many == "0 claims hold, 7 do not: fails, fails, fails, fails, fails and 2 more."
    assert told(written / "c.json", "en") == (
        "1 claims hold, 1 does not: fails. 1 are not applicable."
    )
