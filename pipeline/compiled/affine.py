"""Within which bounds an instruction keeps doing the same while its operands change in even steps.

Loop counters and addresses change by the same amount from one turn of a loop to the next, and from
one block to the next. As long as comparisons have the same outcome and nothing carries over, every
value that follows from them changes in even steps as well; then many turns can be counted as one.
Each rule looks at an instruction's operands at two such moments and returns the bounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.instruction import Immediate, Instruction, Operand, Predicate
from pipeline.compiled.semantics.bits import look_up

Whole = NDArray[np.int64]
_WORD = 1 << 32
_FAR = 1 << 62


@dataclass(frozen=True)
class Bound:
    """``low <= value + t * slope <= high`` must hold for the step t that is to be left out.

    All are (lanes,), of lanes that take part, or numbers.
    """

    value: Whole
    slope: Whole
    low: Whole | int
    high: Whole | int

    def steps(self) -> int:
        """Return for how many steps it holds on all lanes; a large number if for ever."""
        value, slope = self.value, self.slope
        low = np.broadcast_to(np.asarray(self.low, np.int64), value.shape)
        high = np.broadcast_to(np.asarray(self.high, np.int64), value.shape)
        moving = slope != 0
        if not moving.any():
            return _FAR
        slope, value = slope[moving], value[moving]
        room = np.where(slope > 0, high[moving] - value, value - low[moving])
        return int((room // np.abs(slope)).min())


class Operands:
    """The sources of an instruction at two moments, one step apart.

    Parameters
    ----------
    instruction
        Whose they are; predicates are left out.
    spans
        Words of each source.
    before, after : (words, lanes)
        Registers of the lanes that take part as they were, in the order of the sources.
    """

    def __init__(
        self,
        instruction: Instruction,
        spans: Sequence[int],
        before: NDArray[np.uint32],
        after: NDArray[np.uint32],
    ) -> None:
        self.operands = [one for one in instruction.sources if not isinstance(one, Predicate)]
        self._first = np.concatenate([[0], np.cumsum(spans)]).tolist()
        self._spans = spans
        self._before, self._after = before, after

    def changes(self, number: int) -> bool:
        """Say whether a source differs between the moments."""
        words = slice(self._first[number], self._first[number + 1])
        return bool((self._before[words] != self._after[words]).any())

    def _modified(self, number: int, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        operand = self.operands[number]
        if getattr(operand, "inverted", False):
            return ~words
        return np.negative(words) if getattr(operand, "negative", False) else words

    def unsigned(self, number: int) -> tuple[Whole, Whole]:
        """Return a 32-bit source without sign, and its slope."""
        at = self._first[number]
        before, after = (
            self._modified(number, moment[at]) for moment in (self._before, self._after)
        )
        return after.astype(np.int64), (after - before).view(np.int32).astype(np.int64)

    def signed(self, number: int) -> tuple[Whole, Whole]:
        """Return a 32-bit source with its sign, and its slope."""
        value, slope = self.unsigned(number)
        return value.astype(np.uint32).view(np.int32).astype(np.int64), slope

    def wide(self, number: int) -> tuple[Whole, Whole]:
        """Return a 64-bit source, and its slope."""
        at = self._first[number]
        joined = []
        for moment in (self._before, self._after):
            high = moment[at + 1] if self._spans[number] > 1 else np.zeros_like(moment[at])
            joined.append(moment[at].astype(np.uint64) | high.astype(np.uint64) << np.uint64(32))
        before, after = joined
        return after.view(np.int64), (after - before).view(np.int64)

    def joined(self, low: int, high: int) -> tuple[Whole, Whole]:
        """Return the 64-bit number of which two sources are the halves, and its slope."""
        moments = []
        for words in (self._before, self._after):
            lower, upper = words[self._first[low]], words[self._first[high]]
            moments.append(lower.astype(np.uint64) | upper.astype(np.uint64) << np.uint64(32))
        before, after = moments
        return after.view(np.int64), (after - before).view(np.int64)


Rule = Callable[[Instruction, Operands], list[Bound] | None]


def _even(_instruction: Instruction, _seen: Operands) -> list[Bound]:
    """Give no bounds: sums and copies always move in even steps, modulo the word."""
    return []


def _window(value: Whole, slope: Whole, size: int) -> Bound:
    """Keep a value between two multiples of ``size``."""
    low = value // size * size
    return Bound(value, slope, low, low + size - 1)


def _sum3(instruction: Instruction, seen: Operands) -> list[Bound]:
    """IADD3: a carry out must stay the same."""
    if not any(isinstance(one, Predicate) and one.number is not None
               for one in instruction.results):  # fmt: skip
        return []
    total, slope = seen.unsigned(0)
    if getattr(seen.operands[0], "negative", False):
        total = np.where(total == 0, _WORD, total)
    for number in (1, 2):
        value, step = seen.unsigned(number)
        if getattr(seen.operands[number], "negative", False):
            # As the adder sees it: the complement, and one more.
            value = np.where(value == 0, _WORD, value)
        total, slope = total + value, slope + step
    return [_window(total, slope, _WORD)]


def _product(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    """IMAD: one factor may change; a wide product must not leave its range."""
    if seen.changes(0) and seen.changes(1):
        return None
    if not (instruction.has("WIDE") or instruction.has("HI")):
        return []
    if instruction.has("HI") and (seen.changes(0) or seen.changes(1) or seen.changes(2)):
        return None
    read = seen.unsigned if instruction.has("U32") else seen.signed
    (a, da), (b, db) = read(0), read(1)
    c, dc = seen.wide(2)
    low, high = (0, _WORD - 1) if instruction.has("U32") else (-_WORD // 2, _WORD // 2 - 1)
    total, slope = a * b + c, a * db + b * da + dc
    return [Bound(a, da, low, high), Bound(b, db, low, high), _window(total, slope, _WORD)]


def _number(operand: Operand) -> int | None:
    return operand.bits if isinstance(operand, Immediate) else None


def _floor(value: Whole, slope: Whole, size: int) -> Bound:
    """Bound a value of which only the quotient by ``size`` matters."""
    if np.all(slope % size == 0):
        return Bound(value, slope, -_FAR, _FAR)
    return _window(value, slope, size)


def _lea(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    shift = _number(seen.operands[-1])
    if shift is None:
        return None
    if instruction.has("HI"):
        return _lea_high(instruction, seen, shift)
    if not any(isinstance(one, Predicate) and one.number is not None
               for one in instruction.results):  # fmt: skip
        return []
    (a, da), (b, db) = seen.unsigned(0), seen.unsigned(1)
    shifted, step = (a << shift) % _WORD, da << shift
    return [
        Bound(shifted, step, 0, _WORD - 1),
        _window(shifted + b, step + db, _WORD),
    ]


def _lea_high(instruction: Instruction, seen: Operands, shift: int) -> list[Bound] | None:
    size = 1 << (32 - shift)
    if instruction.has("SX32"):
        value, slope = seen.signed(0)
        return [Bound(value, slope, -_WORD // 2, _WORD // 2 - 1), _floor(value, slope, size)]
    if len(seen.operands) > 3:
        value, slope = seen.joined(0, 2)
        bound = _floor(value, slope, size)
        # Else the quotient has just changed: not the step that the next ones are.
        steady = np.all((value - slope) // size == value // size) or bound.high is _FAR
        return [bound] if steady else None
    value, slope = seen.unsigned(0)
    return [Bound(value, slope, 0, _WORD - 1), _floor(value, slope, size)]


def _shift(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    """SHF by a fixed amount: to the left always even, to the right by its quotient."""
    if seen.changes(1):
        return None
    by = _number(seen.operands[1])
    if by is None:
        return None
    if instruction.has("L") and not instruction.has("HI"):
        return [] if not seen.changes(2) else None
    if instruction.has("L"):
        return None
    if instruction.has("HI") and not seen.changes(0):
        read = seen.signed if instruction.has("S32") else seen.unsigned
        value, slope = read(2)
        low, high = (-_WORD // 2, _WORD // 2 - 1) if instruction.has("S32") else (0, _WORD - 1)
        return [Bound(value, slope, low, high), _floor(value, slope, 1 << min(by, 32))]
    return None


def _kept(x: Whole, slope: Whole, name: str) -> Bound:
    """Keep the outcome of comparing ``x`` with 0."""
    if name in ("EQ", "NE"):
        low = np.where(x > 0, 1, np.where(x < 0, -_FAR, 0))
        high = np.where(x > 0, _FAR, np.where(x < 0, -1, 0))
        return Bound(x, slope, low, high)
    # LT and GE part below 0, LE and GT above it.
    below = x < 0 if name in ("LT", "GE") else x <= 0
    edge = -1 if name in ("LT", "GE") else 0
    return Bound(x, slope, np.where(below, -_FAR, edge + 1), np.where(below, edge, _FAR))


def _comparison(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    """ISETP: the outcome must stay the same, and neither side may wrap."""
    if instruction.has("U64") or instruction.has("S64"):
        (a, da), (b, db) = seen.wide(0), seen.wide(1)
        return [_kept(a - b, da - db, instruction.modifiers[0])]
    plain = instruction.has("U32")
    read = seen.unsigned if plain else seen.signed
    (a, da), (b, db) = read(0), read(1)
    low, high = (0, _WORD - 1) if plain else (-_WORD // 2, _WORD // 2 - 1)
    return [
        Bound(a, da, low, high),
        Bound(b, db, low, high),
        _kept(a - b, da - db, instruction.modifiers[0]),
    ]


def _minimum(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    """IMNMX: the same side must stay the smaller one."""
    if not {"U32", "S32"}.issuperset(instruction.modifiers):
        return None
    read = seen.unsigned if instruction.has("U32") else seen.signed
    (a, da), (b, db) = read(0), read(1)
    return [_kept(a - b, da - db, "LT"), Bound(a, da, -_WORD, _WORD), Bound(b, db, -_WORD, _WORD)]


def _logic(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    """LOP3 with one source that changes by multiples of 2^k, whose bits from k on pass or do not.

    So ``block << 5 | thread`` moves as the block does, and ``index & 31`` stays where it is.
    """
    changing = [number for number in range(3) if seen.changes(number)]
    table = _number(seen.operands[3])
    if len(changing) != 1 or table is None:
        return None
    _, slope = seen.unsigned(changing[0])
    low_bits = int(np.bitwise_or.reduce(slope & -slope))
    high = np.uint32(_WORD - (low_bits & -low_bits))
    sources = [seen.unsigned(number)[0].astype(np.uint32) for number in range(3)]
    outcomes = []
    for bits in (0, _WORD - 1):
        sources[changing[0]] = np.full_like(sources[0], bits)
        outcomes.append(look_up(table, *sources) & high)
    zeros, ones = outcomes
    if np.array_equal(zeros, ones):
        return []
    whole = np.all(zeros == 0) and np.all(ones == high)
    turned = np.all(zeros == high) and np.all(ones == 0)
    truths = [one for one in instruction.results if isinstance(one, Predicate)]
    named = any(one.number is not None for one in truths)
    return [] if (whole or turned) and not named else None


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("MOV", "IADD", "VIADD", "SEL", "R2UR", "SHFL"), _even),
    "IADD3": _sum3,
    "IMAD": _product,
    "LEA": _lea,
    "SHF": _shift,
    "ISETP": _comparison,
    "IMNMX": _minimum,
    "VIMNMX": _minimum,
    "LOP3": _logic,
}


def bounds(instruction: Instruction, seen: Operands) -> list[Bound] | None:
    """Return within which bounds an instruction keeps doing the same.

    Returns
    -------
    list of Bound or None
        None if its results do not change in even steps, as far as is known.
    """
    opcode = instruction.opcode
    bare = opcode[1:] if opcode[0] == "U" and opcode[1:] in _RULES else opcode
    if bare not in _RULES:
        return None
    if bare == "SHFL" and seen.changes(1):
        return None
    return _RULES[bare](instruction, seen)
