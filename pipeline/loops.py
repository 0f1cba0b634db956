"""Compiled loops, kept on disk for as long as all the code behind them stays the same.

numba keeps what it has compiled beside the source file, and compiles anew when that file is
another. Of functions and constants that come from other files it sees no change (numba issue 1833):
what was compiled of the old ones would go on giving the old results, and they would be taken for
those of the new code. Here the digest of all code behind a loop decides.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba.core import caching
from numba.core.dispatcher import Dispatcher

from pipeline.provenance import code_digest

_digest = cache(code_digest)


class _ByContent:
    """A place for compiled code that is as fresh as all code behind its module."""

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        super().__init__(function, path)  # type: ignore[call-arg]
        self._module = function.__module__

    def get_source_stamp(self) -> str:
        return _digest(self._module)


class _Named(_ByContent, caching.UserProvidedCacheLocator):
    """The folder that NUMBA_CACHE_DIR names."""


class _Beside(_ByContent, caching.InTreeCacheLocator):
    """The folder of the module's bytecode."""


class _OfUser(_ByContent, caching.UserWideCacheLocator):
    """A folder of the user's, where the module's cannot be written."""


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes = [_Named, _Beside, _OfUser]  # noqa: RUF012


class _Cache(caching.FunctionCache):
    _impl_class = _Kept


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function when it is first called, or take what was compiled of the same code.

    Parameters
    ----------
    function
        A function of a module of this package.
    options
        For :func:`numba.njit`; other threads go on meanwhile, unless ``nogil`` is False.

    Returns
    -------
    callable
        The compiled function; without ``function``, a decorator with these options.
    """
    if function is None:
        return lambda decorated: compiled(decorated, **options)
    dispatcher = numba.njit(**{"nogil": True} | options)(function)
    # Without compilation (NUMBA_DISABLE_JIT) it is the function itself.
    if isinstance(dispatcher, Dispatcher):
        vars(dispatcher)["_cache"] = _Cache(function)
    return dispatcher
