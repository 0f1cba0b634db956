"""Kill a run at a random moment, then run again: ``python -m tests.workflow.faults --runs 50``.

Signal 9 goes to a job, to Snakemake, to both, or to one of the two that start a job from a warm
interpreter: the client that waits for it and the server that it is a fork of. A plain run
afterwards must succeed, with no flag and nothing unlocked, and make the bytes of a build that
nobody disturbed. Every other run that is killed makes results of another configuration over those
that are there.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.workflow.scratch import Scratch, copy_checkout, digests

TARGETS = ("results/gpu_limits.zarr", "results/tile_order.zarr")
# Makes all of it again.
OTHER = ("--config", "tile_order={largest_group: 4}", "gpus=[h100_sxm, rtx_a6000]")
VICTIMS = ("job", "Snakemake", "both", "client", "server")
_NAMES = {"client": "/warm_client.py ", "server": "/warm_server.py ", "job": ".snakemake/scripts/"}
_LOOK_EVERY = 0.002


@dataclass(frozen=True)
class Undisturbed:
    """A build that nobody disturbed.

    Attributes
    ----------
    scratch
        Where it was made, and where runs are killed.
    digests
        Of all results, by name.
    seconds
        How long it took.
    """

    scratch: Scratch
    digests: dict[str, str]
    seconds: float


def undisturbed(place):
    """Build in a new copy of the checkout, and take the time."""
    scratch = copy_checkout(place)
    begun = time.monotonic()
    code, shown = scratch.process("snakemake", *TARGETS)
    assert code == 0, shown
    seconds = time.monotonic() - begun
    return Undisturbed(scratch, digests(scratch.folder / "results"), seconds)


def clear(scratch):
    """Remove all that runs have made."""
    for name in ("results", "logs", ".snakemake", ".cache"):
        shutil.rmtree(scratch.folder / name, ignore_errors=True)


def disturb(build, victim, chance):
    """Kill a run, then run again; gives what was killed and what is wrong afterwards."""
    scratch = build.scratch
    over = chance.random() < 0.5
    if not over:
        clear(scratch)
    started = scratch.start("snakemake", *TARGETS, *(OTHER if over else ()))
    time.sleep(chance.uniform(0, build.seconds))
    hit = _kill(psutil.Process(started.pid), victim)
    started.communicate()
    code, shown = scratch.snakemake(*TARGETS)
    if code:
        return hit, f"the run afterwards ends with {code}:\n{shown}"
    found = digests(scratch.folder / "results")
    names = sorted(found.keys() | build.digests.keys())
    differing = [name for name in names if found.get(name) != build.digests.get(name)]
    if differing:
        return hit, f"these differ: {', '.join(differing)}"
    code, said = scratch.check_results()
    return hit, said if code else ""


def _kill(main, victim):
    """Kill whom it says; one that is not Snakemake is waited for as long as there may be one."""
    while True:
        try:
            processes = main.children(recursive=True)
            parts = [_part(each) for each in processes]
        except psutil.NoSuchProcess:
            processes = parts = []
        found = {
            part: [each for each, its in zip(processes, parts, strict=True) if its == part]
            for part in _NAMES
        }
        chosen = {"Snakemake": [main], "both": [main, *processes]}.get(victim, found.get(victim))
        if chosen or main.status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(_LOOK_EVERY)
    if victim in found:
        chosen = chosen[-1:]
    for process in chosen:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return f"{victim}, {len(found['job'])} jobs at work" if chosen else "nothing: it had ended"


def _part(process):
    """Part that a process takes in running a job; forks of the server are jobs."""
    if _NAMES["server"] in " ".join(process.parent().cmdline()):
        return "job"
    line = " ".join(process.cmdline())
    return next((part for part, name in _NAMES.items() if name in line), None)


def main():
    """Count how many runs after a kill are right; the exit code is 1 if not all are."""
    parser = argparse.ArgumentParser(prog="tests.workflow.faults", description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="faults-"))
    build, right = undisturbed(place), 0
    for number in range(asked.runs):
        victim = VICTIMS[number % len(VICTIMS)]
        hit, wrong = disturb(build, victim, random.Random(f"{asked.seed} {number}"))
        right += not wrong
        sys.stdout.write(f"{number + 1:3d}  killed: {hit}  {wrong or 'right'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"kill -9 at random moments: {asked.runs} runs tried, {right} right\n")
    if right < asked.runs:
        sys.stdout.write(f"{build.scratch.folder} is left to look at.\n")
        return 1
    shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
