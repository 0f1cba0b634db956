"""Files that a reader sees whole or not at all."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd


def publish(contents: Mapping[Path, bytes]) -> None:
    """Write files beside their targets and rename them; make folders that are not there."""
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        # One name per target: what a killed write left is overwritten by the next one.
        partial = path.with_name(f".{path.name}.partial")
        partial.write_bytes(content)
        partial.replace(path)


def as_csv(frame: pd.DataFrame) -> bytes:
    """Give the numbers as they are, to the last digit; what is missing is ``NaN``."""
    return frame.to_csv(index=False, na_rep="NaN", lineterminator="\n").encode()


def as_json(value: object) -> bytes:
    """Give plain values as text that a reader and a program can read."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()
