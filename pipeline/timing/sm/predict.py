"""Predict a launch: the blocks of one SM are replayed, and from there the chip follows.

Blocks start wave by wave. A whole wave is replayed on an SM in its middle, the last one at its own
residency; both once. Waves follow each other, and each SM has its share of L2 and DRAM.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.compiled.elf import reserved_shared
from pipeline.compiled.launch import Launch
from pipeline.errors import ModelError
from pipeline.hardware.occupancy import OCCUPANCY_FIGURES, occupancy
from pipeline.timing.sm.code import Code, code
from pipeline.timing.sm.mechanisms import ALL, Mechanisms
from pipeline.timing.sm.origin import block_axes, origin
from pipeline.timing.sm.power import clock
from pipeline.timing.sm.rates import rates
from pipeline.timing.sm.replay import Replay, averaged, bounded, replay
from pipeline.timing.sm.result import PIPES, Prediction, Window
from pipeline.timing.sm.switches import switched_code, switched_trace
from pipeline.timing.sm.trace import Trace, trace

_SECTOR_BYTES = 32
_SUBCORES = 4
_OF_SUBCORES = ("issue", "fma_heavy", "fma_lite", "alu", "uniform", "special", "tensor")
_NO_WINDOW = Window(0, 0)
STARTS = (0, 700)
"""Cycles between the starts of an SM's blocks; predictions are means over these."""


@dataclass(frozen=True, eq=False)
class Traced:
    """A launch with the traces that have been made of it, for several predictions.

    Attributes
    ----------
    launch
        What is launched.
    """

    launch: Launch
    _traces: dict[tuple[int, ...], Trace] = field(default_factory=dict)

    @cached_property
    def code(self) -> Code:
        """The columns of its instructions."""
        return code(self.launch.program)

    @cached_property
    def axes(self) -> NDArray[np.int64]:
        """Axes of the grid along which each access moves."""
        return block_axes(self.launch.program)

    def of(self, blocks: NDArray[np.int64]) -> Trace:
        """Return the traces of some blocks."""
        key = tuple(blocks.tolist())
        if key not in self._traces:
            self._traces[key] = trace(self.launch, blocks)
        return self._traces[key]


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
    traced = launch if isinstance(launch, Traced) else Traced(launch)
    one = _Chip(traced, gpu, mechanisms, window or _NO_WINDOW, starts)
    return one.predicted()


class _Chip:
    """One launch on one GPU."""

    def __init__(
        self,
        traced: Traced,
        gpu: xr.Dataset,
        on: Mechanisms,
        window: Window,
        starts: tuple[int, ...],
    ) -> None:
        self._starts = starts
        self._traced, self._launch, self._on, self._window = traced, traced.launch, on, window
        self._id = str(gpu["gpu"].item())
        self._figures = {str(name): float(value) for name, value in gpu.items() if value.ndim == 0}
        self._choices = gpu["smem_configurations"].to_numpy()
        program = self._launch.program
        wanted = str(gpu["arch"].item())
        if program.architecture != wanted:
            raise ModelError(
                f"{program.kernel} is compiled for {program.architecture}; {self._id} runs {wanted}"
            )
        self._code = switched_code(traced.code, on)
        self._blocks = self._resident(gpu)

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

    def predicted(self) -> Prediction:
        """Return the prediction."""
        sms = int(self._figures["sm_count"])
        wave = sms * self._blocks
        full, rest = divmod(self._launch.blocks, wave)
        parts: list[tuple[float, Replay]] = []
        if full:
            parts.append((full, self._wave(full // 2 * wave, wave, self._blocks, sms // 2)))
        if rest and full and not self._on.wave_quantisation:
            parts[0] = full + rest / wave, parts[0][1]
        elif rest:
            parts.append((1, self._wave(full * wave, rest, -(-rest // sms), 0)))
        return self._sum(parts, full + rest / wave)

    def _wave(self, first: int, count: int, resident: int, sm: int) -> Replay:
        """Replay the blocks of one SM of a wave: every so many-th."""
        sms = -(-count // resident)
        here = first + min(sm, sms - 1) + np.arange(resident) * sms
        here = here[here < first + count]
        found = self._traced.of(here)
        figures = self._figures
        l2_bytes = figures["l2_bytes"] / figures["l2_partitions"]
        come = origin(
            self._launch, self._traced.axes, found, here, (first, first + count), l2_bytes
        )
        each = rates(figures, self._l1_bytes(resident), sms, self._on, self._window)
        self._window = _NO_WINDOW
        steps = switched_trace(found, self._on)
        # Blocks that follow each other on an SM are out of step: by how much, nobody knows.
        staggers = self._starts if len(here) > 1 else self._starts[:1]
        replays = [
            replay(steps, self._code, come, each._replace(stagger=cycles)) for cycles in staggers
        ]
        return bounded(averaged(replays), len(found.path))

    def _l1_bytes(self, resident: int) -> int:
        """Return what shared memory leaves of L1: the driver takes the least that suffices."""
        launch = self._launch
        own = launch.program.facts.shared_bytes + launch.dynamic_shared
        used = resident * (own + reserved_shared(launch.program.capability))
        suffice = self._choices[self._choices >= used]
        taken = int(suffice[0]) if len(suffice) else int(self._choices[-1])
        return int(self._figures["l1_bytes"]) - taken

    def _sum(self, parts: list[tuple[float, Replay]], waves: float) -> Prediction:
        times = np.array([often for often, _ in parts])
        replays = [one for _, one in parts]
        cycles = float(times @ [one.cycles for one in replays])
        work = times @ np.array([one.work for one in replays])
        units = np.array([_SUBCORES if name in _OF_SUBCORES else 1 for name in PIPES])
        used = dict(zip(PIPES, (work / units / cycles).tolist(), strict=True))
        hertz = clock(self._figures, used) if self._on.power_clock else self._figures["clock_light"]
        gap = self._figures["launch_gap"] if self._on.launch else 0.0
        stalls = np.tensordot(times, np.array([one.stalls for one in replays]), 1)
        executed = times @ np.array([one.executed for one in replays])
        loaded = float(times @ [one.loaded for one in replays])
        sms = min(self._figures["sm_count"], self._launch.blocks)
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
