"""A folder of files that a reader sees whole or not at all."""

import shutil
from collections.abc import Mapping
from pathlib import Path


def publish_folder(contents: Mapping[str, bytes], folder: str | Path) -> None:
    """Write files into a folder beside ``folder`` and put it in its place.

    Parameters
    ----------
    contents
        Name below the folder, with ``/`` between parts -> content.
    folder
        What is there already is removed.
    """
    folder = Path(folder)
    # One name: what a killed write left is removed by the next one.
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for name, content in contents.items():
        path = partial / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
