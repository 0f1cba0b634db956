"""The schedule of a megakernel, compiled: what ``schedule`` defines, for real sizes.

What happens on an SM follows from when its pages arrive and its counters are raised, so moments are
computed ahead of time and only DRAM's clients stand in line: the loader of each SM, and its read of
keys and values.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.decode.machine import NOBODY, Machine, Schedule, moments_of
from pipeline.decode.program import Program
from pipeline.loops import compiled

_NEVER = np.inf

_WAITS, _READS, _WORKS = 0, 1, 2
"""What an SM does with its present instruction."""


def schedule(program: Program, machine: Machine) -> Schedule:
    """Run a program; as :func:`pipeline.decode.schedule.schedule`."""
    queue = np.argsort(program.sm, kind="stable")
    queue_start = np.searchsorted(program.sm[queue], np.arange(program.n_sm + 1))
    pages = np.ceil(program.weight_bytes / machine.page_bytes).astype(np.int64)[queue]
    page_start = np.concatenate([[0], np.cumsum(pages)])
    makers = np.bincount(program.raises.values, minlength=program.n_counters)
    by_counter = np.argsort(program.waits.values, kind="stable")
    waits = np.diff(program.waits.start)
    moments = np.zeros((5, program.size))
    waited_for = np.full(program.size, NOBODY)
    served = np.zeros((2, page_start[-1] + np.count_nonzero(program.late_bytes)))
    _run(
        (queue, queue_start, program.sm),
        (program.weight_bytes, program.late_bytes, program.numbers, program.norms),
        (page_start, np.repeat(np.arange(queue.size), pages)),
        (program.raises.start, program.raises.values, makers),
        (
            np.searchsorted(program.waits.values[by_counter], np.arange(program.n_counters + 1)),
            np.repeat(np.arange(program.size), waits)[by_counter],
            waits.copy(),
        ),
        (machine.bandwidth, machine.latency, machine.sm_bandwidth),
        (machine.pages, machine.in_flight, machine.page_bytes, machine.numbers_per_second),
        (machine.setup, machine.signal, machine.fetch, machine.sync, machine.norm),
        moments,
        waited_for,
        served,
    )
    return moments_of(moments, waited_for, served)


@compiled
def _run(
    queues: Any,
    sizes: Any,
    paging: Any,
    raising: Any,
    reading: Any,
    memory: Any,
    working: Any,
    waiting: Any,
    moments: NDArray[np.float64],
    waited_for: NDArray[np.int64],
    served: NDArray[np.float64],
) -> None:
    """Fill the moments, who was waited for, and what DRAM served (moments, bytes)."""
    queue, queue_start, _ = queues
    weight_bytes, late_bytes, _, norms = sizes
    page_start, owner = paging
    n_pages, in_flight, page_bytes, _ = working
    n_sm = queue_start.size - 1
    first_page = page_start[queue_start]
    place, phase = queue_start[:-1].copy(), np.full(n_sm, _WAITS)
    asked, used = first_page[:-1].copy(), first_page[:-1].copy()
    now, port = np.zeros(n_sm), np.zeros(n_sm)
    load_at, late_at = np.zeros(n_sm), np.full(n_sm, _NEVER)
    arrival, freed = np.zeros(owner.size), np.zeros(owner.size)
    counters = np.zeros(raising[2].size), np.full(raising[2].size, NOBODY)
    sms = place, phase, asked, used, now, late_at, arrival, freed
    todo = np.zeros(queue.size + n_sm + 1, np.int64)
    todo[:n_sm] = np.arange(n_sm - 1, -1, -1)
    count, dram_free, events = n_sm, 0.0, 0
    while True:
        while count > 0:
            sm = todo[count - 1]
            count = _advance(
                sm, todo, count - 1, sms, counters, queues, sizes, page_start, raising, reading,
                working, waiting, moments, waited_for,
            )  # fmt: skip
            load_at[sm] = _next_load(
                asked[sm], used[sm], first_page[sm], first_page[sm + 1], n_pages, freed
            )
            if asked[sm] - in_flight >= first_page[sm]:
                load_at[sm] = max(load_at[sm], arrival[asked[sm] - in_flight])
        loads, reads = np.argmin(load_at), np.argmin(late_at)
        is_load = load_at[loads] <= late_at[reads]
        sm = loads if is_load else reads
        at = load_at[sm] if is_load else late_at[sm]
        if at == _NEVER:
            return
        one = queue[owner[asked[sm]]] if is_load else queue[place[sm]]
        size = late_bytes[one]
        if is_load:
            behind = (asked[sm] - page_start[owner[asked[sm]]]) * page_bytes
            size = min(page_bytes, weight_bytes[one] - behind)
        dram_free = max(dram_free, at) + size / memory[0]
        served[0, events], served[1, events] = dram_free, size
        events += 1
        port[sm] = max(dram_free + memory[1], port[sm] + size / memory[2])
        if is_load:
            arrival[asked[sm]] = port[sm]
            asked[sm] += 1
        else:
            late_at[sm] = _NEVER
            now[sm] = port[sm] + (waiting[3] + norms[one] * waiting[4])
            moments[3, one] = now[sm]
            phase[sm] = _WORKS
        todo[0], count = sm, 1


@compiled
def _next_load(
    asked: int,
    used: int,
    first: int,
    end: int,
    n_pages: int,
    freed: NDArray[np.float64],
) -> float:
    """When an SM has room for its next page; never, as far as is known yet."""
    before = asked - n_pages
    if asked == end or before >= used:
        return _NEVER
    return 0.0 if before < first else freed[before]


@compiled
def _advance(
    sm: int,
    todo: NDArray[np.int64],
    count: int,
    sms: Any,
    counters: Any,
    queues: Any,
    sizes: Any,
    page_start: NDArray[np.int64],
    raising: Any,
    reading: Any,
    working: Any,
    waiting: Any,
    moments: NDArray[np.float64],
    waited_for: NDArray[np.int64],
) -> int:
    """Take an SM as far as is known; return how many SMs stand in ``todo`` now."""
    queue, queue_start, _ = queues
    _, late_bytes, numbers, norms = sizes
    place, phase, _, used, now, late_at, _, _ = sms
    setup, signal, fetch, sync, norm = waiting
    begin, ready, read, start, end = moments
    rate = working[3]
    missing = reading[2]
    while place[sm] < queue_start[sm + 1]:
        one = queue[place[sm]]
        if phase[sm] == _WAITS:
            if missing[one] > 0:
                return count
            begin[one] = now[sm]
            read[one] = max(now[sm], ready[one]) + (setup + fetch)
            if late_bytes[one] > 0:
                phase[sm], late_at[sm] = _READS, read[one]
                return count
            now[sm] = read[one] + (sync + norms[one] * norm)
            start[one], phase[sm] = now[sm], _WORKS
        if phase[sm] == _READS:
            return count
        first, last = page_start[place[sm]], page_start[place[sm] + 1]
        if first == last:
            now[sm] += numbers[one] / rate
        _work_off(sm, one, first, last, sms, sizes, working)
        if used[sm] < last:
            return count
        end[one], phase[sm] = now[sm], _WAITS
        place[sm] += 1
        count = _raise(one, todo, count, sms, counters, queues, raising, reading, signal,
                       moments, waited_for)  # fmt: skip
    return count


@compiled
def _work_off(sm: int, one: int, first: int, last: int, sms: Any, sizes: Any, working: Any) -> None:
    """Use up those pages of an instruction that were asked for."""
    weight_bytes, _, numbers, _ = sizes
    _, _, asked, used, now, _, arrival, freed = sms
    _, _, page_bytes, rate = working
    while used[sm] < min(last, asked[sm]):
        page = used[sm]
        size = min(page_bytes, weight_bytes[one] - (page - first) * page_bytes)
        work = size / weight_bytes[one] * numbers[one] / rate
        now[sm] = max(arrival[page], now[sm]) + work
        freed[page] = now[sm]
        used[sm] += 1


@compiled
def _raise(
    one: int,
    todo: NDArray[np.int64],
    count: int,
    sms: Any,
    counters: Any,
    queues: Any,
    raising: Any,
    reading: Any,
    signal: float,
    moments: NDArray[np.float64],
    waited_for: NDArray[np.int64],
) -> int:
    """Raise the counters of an instruction; SMs that need not wait any more go to ``todo``."""
    queue, _, sm_of = queues
    place, phase = sms[0], sms[1]
    latest, maker = counters
    raise_start, raise_values, makers = raising
    reader_start, readers, missing = reading
    ready, end = moments[1], moments[4]
    for counter in raise_values[raise_start[one] : raise_start[one + 1]]:
        makers[counter] -= 1
        if end[one] >= latest[counter]:
            latest[counter], maker[counter] = end[one], one
        if makers[counter] > 0:
            continue
        for reader in readers[reader_start[counter] : reader_start[counter + 1]]:
            missing[reader] -= 1
            if latest[counter] + signal >= ready[reader]:
                ready[reader] = latest[counter] + signal
                waited_for[reader] = maker[counter]
            sm = sm_of[reader]
            # One that is not at the head of its queue yet is looked at when it gets there.
            if missing[reader] == 0 and queue[place[sm]] == reader and phase[sm] == _WAITS:
                todo[count] = sm
                count += 1
    return count
