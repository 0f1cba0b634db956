"""What is done at the end of a run, however it ends."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any


def afterwards(execute: Callable[..., Any], end: Callable[[], None]) -> Callable[..., Any]:
    """Do ``end`` whenever the workflow has been executed, also where that has failed."""

    @wraps(execute)
    def executed(*args: Any, **settings: Any) -> Any:
        try:
            return execute(*args, **settings)
        finally:
            end()

    return executed


def cancel_timers() -> None:
    """Cancel the timers that Snakemake's scheduler has left.

    Each is to wake it a second after it has started jobs, and keeps the program from ending until
    then.
    """
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
