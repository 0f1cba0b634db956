"""What is done at the end of a run."""

import threading

import pytest

from workflow.endings import afterwards, cancel_timers


def test_afterwards__gives_what_execution_gives_and_then_ends():
    done = []

    def execute(first, *, second):
        done.append((first, second))
        return "result"

    assert afterwards(execute, lambda: done.append("end"))(1, second=2) == "result"
    assert done == [(1, 2), "end"]


def test_afterwards__ends_where_execution_is_left():
    done = []

    def execute():
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        afterwards(execute, lambda: done.append("end"))()
    assert done == ["end"]


def test_cancel_timers__nothing_waits_for_them_nor_comes_of_them():
    fired = []
    timer = threading.Timer(3600, fired.append, ["late"])
    timer.start()
    cancel_timers()
    timer.join(60)
    assert not timer.is_alive()
    assert not fired
