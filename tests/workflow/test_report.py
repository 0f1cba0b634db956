"""``snakemake --report``: one page with figures, tables and captions, made and read offline."""

import re

import pytest

from pipeline.artifacts.lecture10 import roofline

pytestmark = pytest.mark.workflow


def test_report__carries_captions_and_categories_and_loads_nothing(built, monkeypatch):
    # A request through this would fail.
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    code, shown = built.snakemake("--report", "report.html", "lecture10")
    assert code == 0, shown
    page = (built.folder / "report.html").read_text(encoding="utf-8")
    (built.folder / "report.html").unlink()
    assert not re.search(r"""(src|href)\s*=\s*["']https?://""", page)
    # The beginning of a caption that holds no fact.
    assert roofline.ARTIFACT.caption.partition(" at n")[0] in page
    assert "\\u5c4b\\u9876\\u7ebf" in page or "屋顶线" in page
    for category in ("lecture10", "roofline"):
        assert f'"{category}"' in page
    assert '"shows": "figure", "language": "zh"' in page
