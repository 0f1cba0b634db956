"""Run or count a compiled kernel of the user's own, and arrange what a profiler would show.

A launch of which nothing depends on data is counted exactly at any size. If it is small enough, or
if it does depend on data, every block is run as well, with values: only then is there a result to
check, and are hazards looked for.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.compiled.count import count, depends_on_data
from pipeline.compiled.decode import Program
from pipeline.compiled.hazards import Finding, HazardWatch
from pipeline.compiled.launch import Argument, execute, prepare
from pipeline.compiled.machine import Machine
from pipeline.compiled.no_code import no_code
from pipeline.compiled.opcodes import CLASSES
from pipeline.compiled.reached import READ, WRITTEN, Reached
from pipeline.compiled.totals import Totals
from pipeline.counting.compiled_counts import COUNTED, instructions
from pipeline.counting.own_cuda import Load, OwnCuda, drawn, launch_without_contents
from pipeline.counting.own_cuda_result import blamed, changed, expected, held_against
from pipeline.errors import KernelError, PaperGpuError
from pipeline.simt.hazards import DIVERGENT_BARRIER, RACES
from pipeline.vocab.own_cuda import OWN_CUDA_COUNTS, OWN_CUDA_INSTRUCTIONS
from pipeline.vocab.variable import annotate

MOST_RUN = 20_000_000
"""Warp instructions up to which a launch that can be counted is run with values too."""
MOST_ON_DATA = 500_000_000
"""Warp instructions after which a launch that must be run is given up."""
MOST_BYTES = 2**30
"""Size of all arrays together (B) up to which they are given contents."""

RUN, COUNT, NOT_AT_ALL = "run", "counted", "none"
_SECTOR = 32
_REFUSED = (*RACES, DIVERGENT_BARRIER)


@dataclass
class Outcome:
    """What is known of a launch; filled as far as it goes."""

    program: Program | None = None
    totals: Totals | None = None
    how: str = NOT_AT_ALL
    failures: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reached: set[tuple[str, str]] = field(default_factory=set)
    error: float = float("nan")
    checked: bool = False


def run_own_cuda(
    own: OwnCuda, program: Callable[[], Program], load: Load, architecture: str, seed: int
) -> tuple[xr.Dataset, xr.Dataset]:
    """Launch a kernel as compiled for one architecture.

    A kernel that fails is a result too, so that the other kernels can go on; the check that
    follows turns it into an error.

    Parameters
    ----------
    own
        How it is launched, and with what.
    program
        Compiles or reads the code.
    load
        Loads functions of the user's files.
    architecture
        Target, such as ``sm_86``.
    seed
        Of random contents.

    Returns
    -------
    counts : (kernel, arch)
        One of each: every counter that machine code gives, ``instructions`` over ``opcode_class``
        as well, and ``failure``, which is empty if all went well.
    instructions : (instruction,), (hazard,)
        Every instruction as in :func:`pipeline.counting.compiled_counts.instructions`, and every
        hazard.
    """
    outcome = Outcome()
    try:
        outcome.program = program()
        _launch(own, outcome, load, seed)
    except PaperGpuError as error:
        outcome.failures.append(str(error))
    if own.hazards == "refuse":
        outcome.failures += _hazards(outcome.findings)
    return _counts(own, outcome, architecture), _rows(own, outcome, architecture)


def _launch(own: OwnCuda, outcome: Outcome, load: Load, seed: int) -> None:
    program = outcome.program
    assert program is not None
    launch = launch_without_contents(own, program)
    on_data = depends_on_data(program)
    if on_data:
        _require_contents(own, on_data)
    else:
        reached = Reached()
        outcome.totals = count(launch, observe=[reached.attach])
        outcome.how, outcome.reached = COUNT, reached.arrays
        if not _small(own, outcome.totals):
            return
    _run(own, outcome, program, load, seed)


def _require_contents(own: OwnCuda, why: str) -> None:
    empty = [one.name for one in own.arguments if one.empty]
    if empty:
        raise KernelError(
            f"{own.file}, {own.entry}: {why}; so it must be run with values, but "
            f"{', '.join(empty)} {'have' if len(empty) > 1 else 'has'} none: give "
            f"own_cuda.{own.id}.arguments.{empty[0]} another fill than none"
        )
    if own.array_bytes > MOST_BYTES:
        raise KernelError(
            f"{own.file}, {own.entry}: {why}; so it must be run with values, and its arrays have "
            f"{own.array_bytes} bytes; at most {MOST_BYTES} are: choose smaller arrays"
        )


def _small(own: OwnCuda, totals: Totals) -> bool:
    few = int(totals.executed.sum()) <= MOST_RUN and own.array_bytes <= MOST_BYTES
    return few and not any(one.empty for one in own.arguments)


def _run(own: OwnCuda, outcome: Outcome, program: Program, load: Load, seed: int) -> None:
    """Run every block; then compare with the specification."""
    arguments = drawn(own.arguments, seed, load)
    watch, reached, limit = HazardWatch(program), Reached(), _Limit(own)
    launch = prepare(program, own.grid, own.block, arguments, own.dynamic_shared)
    before = {
        one.name: argument.copy()
        for one, argument in zip(own.arguments, arguments, strict=True)
        if isinstance(argument, np.ndarray)
    }
    try:
        outcome.totals = execute(launch, observe=[watch.attach, reached.attach, limit.attach])
    finally:
        outcome.findings = watch.findings()
    outcome.how, outcome.reached = RUN, reached.arrays
    after = _arrays(own, arguments)
    outcome.failures += changed(own, before, after)
    if own.specification:
        numbers = {one.name: _number(one.fill) for one in own.arguments if not one.shape}
        wanted = expected(own, before, numbers, load)
        outcome.error, worst = held_against(own, before, after, wanted)
        outcome.checked = True
        for one in worst:
            fresh = drawn(own.arguments, seed, load)
            again = prepare(program, own.grid, own.block, fresh, own.dynamic_shared)
            outcome.failures.append(blamed(one, again, own.arguments.index(one.output)))


def _arrays(own: OwnCuda, arguments: list[Argument]) -> dict[str, NDArray[Any]]:
    return {
        one.name: argument
        for one, argument in zip(own.arguments, arguments, strict=True)
        if isinstance(argument, np.ndarray)
    }


def _number(fill: tuple[float, ...] | str) -> Any:
    return fill[0] if len(fill) == 1 else fill


class _Limit:
    """Ends a launch that takes too long."""

    def __init__(self, own: OwnCuda) -> None:
        self._own, self._spent = own, 0
        self._last: Machine | None = None

    def attach(self, machine: Machine) -> None:
        """Add up what the machines before this one did."""
        if self._last is not None:
            self._spent += int(self._last.tally.executed().sum())
        if self._spent > MOST_ON_DATA:
            raise KernelError(
                f"{self._own.file}, {self._own.entry}: more than {MOST_ON_DATA} warp "
                f"instructions; what it does depends on data, so that every block must be run: "
                f"choose a smaller launch"
            )
        self._last = machine


def _hazards(findings: list[Finding]) -> list[str]:
    """Say what the first hazard is that leaves a result open, and how many there are.

    Reads of what nobody wrote are none: compilers widen loads over words that the source leaves
    out, and use what they get of the others.
    """
    refused = [one for one in findings if one.first.kind in _REFUSED]
    if not refused:
        return []
    kinds: dict[str, int] = {}
    for one in refused:
        kinds[one.first.kind] = kinds.get(one.first.kind, 0) + one.count
    told = ", ".join(f"{times} {kind}" for kind, times in kinds.items())
    return [f"{refused[0].first} (in all: {told})"]


def _counts(own: OwnCuda, outcome: Outcome, architecture: str) -> xr.Dataset:
    """Arrange what the launch did in all."""
    program, totals = outcome.program, outcome.totals
    counters = totals.counters() if totals else dict.fromkeys(COUNTED, 0)
    by_class = totals.by_class() if totals else dict.fromkeys(CLASSES, 0)
    scalars: dict[str, Any] = dict(counters) | {
        "registers": program.facts.registers if program else 0,
        "local_bytes": program.stack_bytes if program else 0,
        "smem_bytes": (program.facts.shared_bytes if program else 0) + own.dynamic_shared,
        "threads_per_block": math.prod(own.block),
        "compulsory_bytes": _compulsory(own, outcome.reached, counters),
        "failure": ". ".join(outcome.failures),
        "counted": totals is not None,
        "how": outcome.how,
        "max_abs_error": outcome.error,
        "checked": outcome.checked,
        "hazard_count": sum(one.count for one in outcome.findings),
    }
    over = ("kernel", "arch")
    dataset = xr.Dataset(
        {name: (over, [[value]]) for name, value in scalars.items()}
        | {"instructions": ((*over, "opcode_class"), np.array([[list(by_class.values())]]))},
        {
            "kernel": [own.id],
            "arch": [architecture],
            "opcode_class": list(CLASSES),
            "opcodes": ("opcode_class", list(CLASSES.values())),
        },
    )
    return annotate(dataset, OWN_CUDA_COUNTS)


def _rows(own: OwnCuda, outcome: Outcome, architecture: str) -> xr.Dataset:
    """Arrange what every instruction did, and the hazards."""
    program = outcome.program or no_code(own.entry, architecture)
    rows = instructions(outcome.totals or Totals(program, (1, 1, 1), (1, 1, 1))).drop_attrs()
    columns = {
        "hazard_kind": [one.first.kind for one in outcome.findings],
        "hazard_position": [one.position for one in outcome.findings],
        "hazard_blocks": [one.count for one in outcome.findings],
        "hazard_text": [str(one.first) for one in outcome.findings],
    }
    rows = rows.assign({name: ("hazard", np.array(values)) for name, values in columns.items()})
    rows = rows.assign_coords(
        kernel=own.id, arch=architecture, hazard=np.arange(len(outcome.findings))
    )
    return annotate(rows, OWN_CUDA_INSTRUCTIONS)


def _compulsory(own: OwnCuda, reached: set[tuple[str, str]], counters: Mapping[str, int]) -> int:
    """Bytes that must pass DRAM: arrays whole, once for each way, but no more than is asked for."""
    total = 0
    for way, names in (
        (READ, ("gld_sectors", "gatom_sectors")),
        (WRITTEN, ("gst_sectors", "gatom_sectors")),
    ):
        whole = sum(
            one.nbytes
            for number, one in enumerate(own.arguments)
            if (f"argument {number}", way) in reached
        )
        total += min(whole, _SECTOR * sum(counters[name] for name in names))
    return total
