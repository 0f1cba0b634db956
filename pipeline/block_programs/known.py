"""Numbers that are known before a program runs."""

from typing import Any


class constexpr:  # noqa: N801 -- the language's own name
    """Marks an argument that is known beforehand; ``constexpr(x)`` is ``x`` itself."""

    def __new__(cls, value: Any) -> Any:
        """Give the value itself: it is known, so nothing need be kept about it."""
        return value
