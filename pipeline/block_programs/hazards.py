"""Reports of stores that do not leave one certain value."""

from dataclasses import dataclass

PROGRAMS = "programs"
LANES = "lanes"


@dataclass(frozen=True)
class Hazard:
    """Two different values stored to one element.

    Attributes
    ----------
    kind
        :data:`PROGRAMS` if two programs stored them, :data:`LANES` if one store of one program did.
    argument, offset
        Where: the argument, and elements from its first one.
    programs
        Indices along the grid of the earlier and the later program.
    values
        What they stored, in that order.
    source
        File and line of the later store.
    """

    kind: str
    argument: str
    offset: int
    programs: tuple[tuple[int, int, int], tuple[int, int, int]]
    values: tuple[float, float]
    source: str

    def __str__(self) -> str:
        first, second = self.programs
        before, after = self.values
        if self.kind == LANES:
            return (
                f"{self.source}: program {second} stores {before} and {after} to {self.argument} "
                f"at offset {self.offset} in one store"
            )
        return (
            f"{self.source}: program {second} stores {after} to {self.argument} at offset "
            f"{self.offset}, where program {first} stored {before}"
        )
