"""What no GPU can give: the largest of a limit over all compute capabilities."""

from pathlib import Path

from pipeline.hardware.sheet import CAPABILITIES_FILE
from pipeline.sheets import small_text
from pipeline.sheets.strict_yaml import parse
from pipeline.user_file import CHECKOUT

CAPABILITIES = CHECKOUT / "data" / CAPABILITIES_FILE


def most_shared(path: Path = CAPABILITIES) -> int | None:
    """Largest shared memory that a block may have on any GPU (B).

    ``None`` if the table cannot be read: reading the GPU sheets says what is wrong with it.
    """
    try:
        table = parse(small_text.read(path))
        return max(int(entry["smem_per_block_max"]["value"]) for entry in table.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
