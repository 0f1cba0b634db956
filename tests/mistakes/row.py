"""One wrong input, and what must be said about it."""

from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

# A few lines that stand for nine to the power of ten values.
LAUGHS = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(10)
)
DEEP = "a: " + "[" * 100_000
MANY_DIGITS = "9" * 5000
TOO_LARGE = 200_000_000
"""Bytes of a file that is not read."""


@dataclass(frozen=True)
class Row:
    """A mistake.

    Attributes
    ----------
    name
        What is wrong.
    held
        The whole file; or text of the sound file, and what stands in its place; or the size of a
        file without contents.
    said
        What the message must hold.
    file
        Name of the file, where that is the mistake.
    """

    name: str
    held: str | bytes | tuple[str, str] | int
    said: tuple[str, ...]
    file: str | None = None

    def write(self, path: Path, sound: str) -> None:
        """Write the file with the mistake in it."""
        if isinstance(self.held, int):
            with path.open("wb") as opened:
                opened.truncate(self.held)
        elif isinstance(self.held, bytes):
            path.write_bytes(self.held)
        elif isinstance(self.held, str):
            path.write_text(self.held, encoding="utf-8")
        else:
            old, new = self.held
            assert old in sound, f"{path.name} does not hold {old!r}"
            path.write_text(sound.replace(old, new, 1), encoding="utf-8")


def row(name, held, *said, file=None):
    return Row(name, held, said, file)
