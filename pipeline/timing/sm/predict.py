"""Predict a launch: the blocks of one SM are replayed, and from there the chip follows.

Blocks start wave by wave. A whole wave is replayed on an SM in its middle, the last one at its own
residency; both once. Waves follow each other, and each SM has its share of L2 and DRAM.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from pipeline.compiled.elf import reserved_shared
from pipeline.compiled.launch import Launch
from pipeline.errors import ModelError
from pipeline.hardware.occupancy import OCCUPANCY_FIGURES, occupancy
from pipeline.timing.sm.code import Code
from pipeline.timing.sm.mechanisms import ALL, Mechanisms
from pipeline.timing.sm.origin import Origin, origin
from pipeline.timing.sm.power import clock
from pipeline.timing.sm.rates import Rates, rates
from pipeline.timing.sm.replay import Replay, averaged, bounded, replay
from pipeline.timing.sm.result import PIPES, Prediction, Window
from pipeline.timing.sm.switches import switched_code, switched_trace
from pipeline.timing.sm.trace import Trace
from pipeline.timing.sm.traced import Traced

_SECTOR_BYTES = 32
_SUBCORES = 4
_OF_SUBCORES = ("issue", "fma_heavy", "fma_lite", "alu", "uniform", "special", "tensor")
_NO_WINDOW = Window(0, 0)
STARTS = (0, 700)
"""Cycles between the starts of an SM's blocks; predictions are means over these."""


def predict(
    launch: Launch | Traced,
    gpu: xr.Dataset,
    mechanisms: Mechanisms = ALL,
    window: Window | None = None,
    starts: tuple[int, ...] = STARTS,
) -> Prediction:
    """Predict the time of a launch on a GPU.

    Parameters
    ----------
    launch
        Arrays need no values; of a :class:`Traced` one, traces are kept for the next prediction.
    gpu : ()
        One GPU of :func:`pipeline.hardware.sm_figures.sm_gpus`.
    mechanisms
        What is modelled.
    window
        Cycles of the first replayed wave to be logged.
    starts
        Cycles between the starts of an SM's blocks; the result is the mean over these.

    Raises
    ------
    ModelError
        If what the kernel does depends on data, the code is for another architecture, or no block
        fits on an SM.
    """
    return _Chip(_traced(launch), gpu, starts).predicted(mechanisms, window or _NO_WINDOW)


def predict_each(
    launch: Launch | Traced,
    gpu: xr.Dataset,
    every: Iterable[Mechanisms],
    starts: tuple[int, ...] = STARTS,
) -> list[Prediction]:
    """Predict a launch with several choices of what is modelled; equal replays are made once.

    Parameters
    ----------
    launch, gpu, starts
        As for :func:`predict`.
    every
        What is modelled.
    """
    chip = _Chip(_traced(launch), gpu, starts)
    return [chip.predicted(mechanisms, _NO_WINDOW) for mechanisms in every]


def _traced(launch: Launch | Traced) -> Traced:
    return launch if isinstance(launch, Traced) else Traced(launch)


@dataclass(frozen=True, eq=False)
class _Wave:
    """Blocks that one SM of a wave holds, of ``resident`` that it may, on ``sms`` in all."""

    steps: Trace
    come: Origin
    resident: int
    sms: int


class _Chip:
    """One launch on one GPU."""

    def __init__(self, traced: Traced, gpu: xr.Dataset, starts: tuple[int, ...]) -> None:
        self._starts = starts
        self._traced, self._launch = traced, traced.launch
        self._id = str(gpu["gpu"].item())
        self._figures = {str(name): float(value) for name, value in gpu.items() if value.ndim == 0}
        self._sms = int(self._figures["sm_count"])
        self._choices = gpu["smem_configurations"].to_numpy()
        program = self._launch.program
        wanted = str(gpu["arch"].item())
        if program.architecture != wanted:
            raise ModelError(
                f"{program.kernel} is compiled for {program.architecture}; {self._id} runs {wanted}"
            )
        self._blocks = self._resident(gpu)
        self._known: dict[tuple[_Wave, Rates], Replay] = {}

    def _resident(self, gpu: xr.Dataset) -> int:
        """Return the blocks that an SM holds."""
        launch, facts = self._launch, self._launch.program.facts
        found = occupancy(
            int(np.prod(launch.block)), facts.registers,
            facts.shared_bytes + launch.dynamic_shared,
            gpu[list(OCCUPANCY_FIGURES)].reset_coords(drop=True),
        )  # fmt: skip
        blocks = int(found["blocks_per_sm"])
        if blocks < 1:
            raise ModelError(
                f"{launch.program.kernel}: no block fits on an SM of {self._id}, limited by "
                f"{found['limited_by'].item()}"
            )
        return blocks

    @cached_property
    def _full(self) -> int:
        """Whole waves."""
        return self._launch.blocks // (self._sms * self._blocks)

    @cached_property
    def _whole(self) -> _Wave:
        """A whole wave in the middle."""
        wave = self._sms * self._blocks
        return self._wave(self._full // 2 * wave, wave, self._blocks, self._sms // 2)

    @cached_property
    def _last(self) -> _Wave:
        """The last wave, if it is not a whole one."""
        first = self._full * self._sms * self._blocks
        rest = self._launch.blocks - first
        return self._wave(first, rest, -(-rest // self._sms), 0)

    def _wave(self, first: int, count: int, resident: int, sm: int) -> _Wave:
        """Trace the blocks of one SM of a wave: every so many-th."""
        sms = -(-count // resident)
        here = first + min(sm, sms - 1) + np.arange(resident) * sms
        here = here[here < first + count]
        found = self._traced.of(here)
        l2_bytes = self._figures["l2_bytes"] / self._figures["l2_partitions"]
        come = origin(
            self._launch, self._traced.axes, found, here, (first, first + count), l2_bytes
        )
        return _Wave(found, come, resident, sms)

    def predicted(self, on: Mechanisms, window: Window) -> Prediction:
        """Return the prediction."""
        full, wave = self._full, self._sms * self._blocks
        rest = self._launch.blocks - full * wave
        parts: list[tuple[float, Replay]] = []
        if full:
            parts.append((full, self._replayed(self._whole, on, window)))
        if rest and full and not on.wave_quantisation:
            parts[0] = full + rest / wave, parts[0][1]
        elif rest:
            parts.append((1, self._replayed(self._last, on, _NO_WINDOW if full else window)))
        return self._sum(parts, full + rest / wave, on)

    def _replayed(self, wave: _Wave, on: Mechanisms, window: Window) -> Replay:
        """Replay a wave, if this has not been done with the same figures and nothing changed."""
        steps, code = switched_trace(wave.steps, on), switched_code(self._traced.code, on)
        figures = rates(self._figures, self._l1_bytes(wave.resident), wave.sms, on, window)
        if steps is not wave.steps or code is not self._traced.code:
            return self._replay(wave.come, steps, code, figures)
        if (wave, figures) not in self._known:
            self._known[wave, figures] = self._replay(wave.come, steps, code, figures)
        return self._known[wave, figures]

    def _replay(self, come: Origin, steps: Trace, code: Code, figures: Rates) -> Replay:
        # Blocks that follow each other on an SM are out of step: by how much, nobody knows.
        staggers = self._starts if steps.block.any() else self._starts[:1]
        replays = [replay(steps, code, come, figures._replace(stagger=one)) for one in staggers]
        return bounded(averaged(replays), len(steps.path))

    def _l1_bytes(self, resident: int) -> int:
        """Return what shared memory leaves of L1: the driver takes the least that suffices."""
        launch = self._launch
        own = launch.program.facts.shared_bytes + launch.dynamic_shared
        used = resident * (own + reserved_shared(launch.program.capability))
        suffice = self._choices[self._choices >= used]
        taken = int(suffice[0]) if len(suffice) else int(self._choices[-1])
        return int(self._figures["l1_bytes"]) - taken

    def _sum(self, parts: list[tuple[float, Replay]], waves: float, on: Mechanisms) -> Prediction:
        times = np.array([often for often, _ in parts])
        replays = [one for _, one in parts]
        cycles = float(times @ [one.cycles for one in replays])
        work = times @ np.array([one.work for one in replays])
        units = np.array([_SUBCORES if name in _OF_SUBCORES else 1 for name in PIPES])
        used = dict(zip(PIPES, (work / units / cycles).tolist(), strict=True))
        hertz = clock(self._figures, used) if on.power_clock else self._figures["clock_light"]
        gap = self._figures["launch_gap"] if on.launch else 0.0
        stalls = np.tensordot(times, np.array([one.stalls for one in replays]), 1)
        executed = times @ np.array([one.executed for one in replays])
        loaded = float(times @ [one.loaded for one in replays])
        sms = min(self._sms, self._launch.blocks)
        return Prediction(
            program=self._launch.program,
            gpu=self._id,
            seconds=cycles / hertz + gap,
            launch_seconds=gap,
            cycles=cycles,
            clock_hz=hertz,
            blocks_per_sm=self._blocks,
            waves=waves,
            instructions=float(executed.sum()),
            utilisation=used,
            warp_cycles=float(stalls.sum()),
            stalls=stalls,
            executed=executed,
            l1_hit_rate=float(times @ [one.hits for one in replays]) / loaded
            if loaded
            else float("nan"),
            l2_bytes=_SECTOR_BYTES * sms * float(times @ [one.from_l2 for one in replays]),
            dram_bytes=_SECTOR_BYTES * sms * float(times @ [one.from_dram for one in replays]),
            log=replays[0].log,
        )
