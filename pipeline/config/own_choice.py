"""Entries for kernels of the user's own, of whatever kind: which are taken, and what is wrong."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from pipeline.config.problem import Problem, from_pydantic, key_path, shown
from pipeline.config.section import Section

_ID = re.compile(r"[a-z0-9_]{1,60}")
_LEFT_OUT = ("false", "False")

Entry = TypeVar("Entry", bound=Section)
Where = tuple[str, str]


class WrongError(Exception):
    """An entry cannot be used."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True)
class Choice(Generic[Entry]):
    """How entries of one kind are checked.

    Attributes
    ----------
    section
        Where they stand in the configuration.
    model
        What an entry must be.
    taken, by
        Names that are taken, and in words what has them.
    completed
        Holds an entry against its files and fills in what was left out; raises ``WrongError``.
    """

    section: str
    model: type[Entry]
    taken: Sequence[str]
    by: str
    completed: Callable[[Where, Entry], Entry]

    def choose(self, given: Mapping[Any, object]) -> tuple[dict[str, Entry], list[Problem]]:
        """Give the entries that are right, in the order given, and what is wrong with others."""
        chosen, problems = {}, []
        for name, entry in given.items():
            if entry is False or entry in _LEFT_OUT:
                continue
            where = (self.section, str(name))
            named = list(self._name_problems(where, name))
            try:
                complete = self.completed(where, self._read(where, entry))
            except WrongError as wrong:
                problems += [*named, *wrong.problems]
            else:
                problems += named
                if not named:
                    chosen[str(name)] = complete
        return chosen, problems

    def _name_problems(self, where: Where, name: object) -> Iterator[Problem]:
        if not isinstance(name, str) or not _ID.fullmatch(name):
            allowed = "a kernel's name is made of a to z, 0 to 9 and _, at most 60"
            yield Problem(key_path(where), allowed)
        elif name in self.taken:
            yield Problem(key_path(where), f"is the name of {self.by}; choose another")

    def _read(self, where: Where, given: object) -> Entry:
        if not isinstance(given, Mapping):
            allowed = "must be a group of keys, see config/README.md; false leaves the kernel out"
            raise WrongError([Problem(key_path(where), f"given {shown(given)}; {allowed}")])
        try:
            return self.model.model_validate(given)
        except ValidationError as error:
            raise WrongError(from_pydantic(error, where, self.model)) from None
