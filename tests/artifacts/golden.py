"""Tables, numbers of figures and captions as they were looked at; one command rewrites them."""

from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
MADE_BY = "# Made by: python -m pytest tests/artifacts --regen\n"


def compare(path, text, regen):
    """Hold a text against a golden file, or write that file anew."""
    if regen:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MADE_BY + text)
    assert path.read_text() == MADE_BY + text, (
        f"{path.name} changed; if on purpose: python -m pytest tests/artifacts --regen, "
        f"then read the diff"
    )
