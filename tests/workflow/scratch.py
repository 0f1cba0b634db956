"""Scratch copies of the checkout in which the real workflow runs on a small configuration."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.workflow import forked

CHECKOUT = Path(__file__).resolve().parents[2]
FOREIGN = ".snakemake_timestamp"
SOURCES = (
    "Snakefile",
    "environment.yml",
    "profiles",
    "workflow",
    "pipeline",
    "config",
    "data",
    "examples",
)

# Where a copy notes the files that its jobs read.
OPENED = "opened"

# Names that try to break tables, pictures and pages, wherever readers see one: markup, formulas,
# signs that fonts have no shape for, from right to left, nowhere to break.
MARKUP = "</td><script>alert(1)</script>\"'<img onerror=x> & {{ 7 * 7 }} $x$ \\frac \N{ROCKET}"
FROM_RIGHT = "\N{HEBREW LETTER GIMEL}\N{HEBREW LETTER PE} \N{ROCKET} seven"
LONG = ("Name-without-a-place-to-break-" * 7)[:200]
H100 = "data/gpus/h100_sxm.yaml"

# What kernels in the example file have in common.
OWN = {
    "file": "examples/transpose.py",
    "specification": "transposed",
    "block": [32, 8],
    "tile": [32, 32],
}
LAUNCHED = {"launch": "graphs", "prefetch": False}
# Small tiles take small sizes; the whole workflow then takes seconds.
SMALL = {
    "language": "both",
    "gpus": ["rtx_a6000", "h100_sxm"],
    "kernels": {
        "k01_naive": {},
        "k03_smem": {"bs": 16},
        "k05_blocktile_2d": {"bm": 32, "bn": 32, "tm": 4, "tn": 4},
    },
    "own_kernels": {
        "transpose_naive": OWN | {"kernel": "naive", "label": MARKUP},
        "transpose_padded": OWN | {"kernel": "tiled", "options": {"pitch": 33}},
    },
    "counting": {
        "sizes": [32, 64, 96, 128, 160],
        "held_out": 160,
        "per_fma_base": 32,
        "seed": 0,
        "wavefronts": "lecture",
    },
    "hazards": {"sizes": [32]},
    "extrapolation": {"sizes": [1024, 4096]},
    "compiled": {"architectures": ["sm_86"], "n": 1024},
    "replay": {"sizes": [1024, 4096], "left_out": ["l1"], "first_cycle": 1000, "cycles": 64},
    "tile_order": {
        "sizes": [1000, 4096],
        "tile_m": 128,
        "tile_n": 64,
        "blocks_per_sm": 1,
        "largest_group": 8,
    },
    "sweeps": {
        "budget": {"points": 1e6, "bytes": 1e8, "seconds": 600},
        "execution": {"scheduler": "threads", "threads": 1},
        "tiles": {"sizes": [4096], "n": 4096, "bm": [32, 64], "bn": [64], "bk": [8]}
        | {"tm": [4, 8], "tn": [4, 8]},
        "warp_tiles": {"sizes": [4096], "n": 4096, "bm": [64], "bn": [64], "bk": [16]}
        | {"wm": [32], "wn": [32, 64], "wniter": [1], "tm": [4], "tn": [4]},
        "timeline": {"scale": 1, "smem_buf": [0], "context": [160], "batch": [1], "eff": [0.9]}
        | {"launch": [1e-6, 2e-6], "ramp": [1e-6], "small": [2e-6]}
        | {"sync": [1e-6], "instr_overhead": [0.5e-6]},
    },
    "block_programs": {
        "sizes": [64],
        "seed": 0,
        "tiles": {
            "block": 64,
            "tile_m": 16,
            "tile_n": 16,
            "tile_k": 16,
            "group": 2,
            "query_rows": 16,
            "key_rows": 16,
            "heads": 1,
            "head_size": 16,
        },
    },
    "lecture10": {
        "gpu": "rtx_a6000",
        "shown_gpus": ["rtx_a6000", "h100_sxm"],
        "small_n": 32,
        "second_n": 64,
        "large_n": 4096,
    },
    "decode": {
        "models": ["llama_3_2_1b", "qwen3_0_6b"],
        "context": 160,
        "batch": 1,
        "weights": "published",
        "lm_head": "published",
        "kv_cache": "published",
        "rows_per_block": 16,
        "ledger_plan": "fused",
        "executions": {
            "kernels7_graphs": LAUNCHED | {"label": FROM_RIGHT, "plan": "kernels7"},
            "megakernel_prefetch": {
                "label": LONG,
                "plan": "fused",
                "launch": "megakernel",
                "prefetch": True,
            },
        },
        "launch_gpu": "h100_sxm",
        "launch_costs": "shared",
        "timeline": {
            "ramp": 1e-6,
            "small": 2e-6,
            "sync": 1e-6,
            "instr_overhead": 5e-7,
            "eff": 0.9,
            "pages": 13,
            "page_bytes": 16384,
        },
        "sensitivity": {"eff_low": {"parameter": "eff", "value": 0.8}},
        "waves": {},
    },
    "megakernel": {
        "execution": "megakernel_prefetch",
        "kernels": "kernels7_graphs",
        "assignment": "contiguous",
        "layers": 1,
    },
    "lecture11": {
        "model": "llama_3_2_1b",
        "gpu": "h100_sxm",
        "shown_gpus": ["h100_sxm"],
        "reference": "kernels7_graphs",
        "compared": "megakernel_prefetch",
    },
}


@dataclass(frozen=True)
class Scratch:
    """A copy of the checkout.

    Attributes
    ----------
    folder
        Where it is.
    home
        An empty home folder: nothing is installed for this user.
    cache
        What ``PAPER_GPU_CACHE`` says: without more, everything is really made.
    """

    folder: Path
    home: Path
    cache: str = "off"

    def copied(self, place):
        """Copy this to another place, with all that is made in it."""
        copy = Scratch(place / "copy", place / "home")
        shutil.copytree(self.folder, copy.folder, symlinks=True)
        shutil.copytree(self.home, copy.home, symlinks=True)
        return copy

    def snakemake(self, *arguments):
        """Run Snakemake; gives exit code and everything that a terminal would show."""
        return self.python("snakemake", *arguments)

    def check_results(self):
        """Hold the results against their digests."""
        return self.python("pipeline.check_results")

    def python(self, module, *arguments):
        """Run a module as a program: quickly, as a fork of a process that has imported much."""
        return forked.run(self.folder, self._environment(), module, *arguments)

    def process(self, module, *arguments):
        """Run a module as a program: in a process of its own, which hashes in its own way."""
        started = self.start(module, *arguments)
        shown, _ = started.communicate()
        return started.returncode, shown

    def start(self, module, *arguments):
        """Start a module as a program, and do not wait for its end."""
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _environment(self):
        mine = {"HOME": str(self.home), "PAPER_GPU_CACHE": self.cache}
        return forked.plain_environment() | mine

    def planned(self, *arguments):
        """Jobs that would run: rule name, and what distinguishes the job from its siblings."""
        code, shown = self.snakemake("--dry-run", "all", *arguments)
        assert code == 0, shown
        if "Nothing to be done" in shown:
            return set()
        jobs = set()
        for block in re.split(r"^\[.*\]$", shown, flags=re.MULTILINE):
            rule = re.search(r"^rule (\w+):$", block, flags=re.MULTILINE)
            if rule:
                wildcards = re.search(r"^    wildcards: (.*)$", block, flags=re.MULTILINE)
                values = re.findall(r"=(\w+)", wildcards[1]) if wildcards else []
                jobs.add(" ".join([rule[1], *values]))
        assert jobs, shown
        return jobs - {"all"}

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def edited(self, name, old, new):
        """Replace text of one file, for as long as the block runs."""

        def replaced(text):
            assert old in text, f"{name} does not hold {old!r}"
            return text.replace(old, new)

        return self.rewritten(name, replaced)

    @contextmanager
    def rewritten(self, name, change):
        """Put what a function makes of its text into one file, for as long as the block runs."""
        path = self.folder / name
        before = path.read_text(encoding="utf-8")
        path.write_text(change(before), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")

    @contextmanager
    def configured(self, **changes):
        """Change sections of the configuration, for as long as the block runs."""
        path = self.folder / "config/config.yaml"
        before = path.read_text(encoding="utf-8")
        held = yaml.safe_load(before)
        for section, value in changes.items():
            inner = held.get(section, {})
            held[section] = inner | value if isinstance(value, dict) else value
        path.write_text(yaml.safe_dump(held, sort_keys=False), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")


def copy_sources(folder, ignore=None):
    """Copy what the workflow needs into a new folder; ``ignore`` as in :func:`shutil.copytree`."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        source = CHECKOUT / name
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / name, ignore=lambda *of: left_out(*of, ignore))
        else:
            shutil.copy2(source, folder / name, follow_symlinks=False)


def left_out(folder, names, ignore=None):
    """Names to leave out besides those of ``ignore``: another worker is writing them just now."""
    kept = (".pyc", ".nbi", ".nbc", ".source")
    named = set(ignore(folder, names)) if ignore else set()
    if Path(folder).name != "__pycache__":
        return named
    return named | {name for name in names if not name.endswith(kept)}


def digests(folder):
    """Digest of every file below a folder, by its name there; Snakemake's own mark is left out."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != FOREIGN
    }


def copy_checkout(place):
    """Copy what the workflow needs; compiled loops are taken along, results are not."""
    folder, home = place / "copy", place / "home"
    home.mkdir()
    copy_sources(folder)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(SMALL, sort_keys=False))
    sheet = (folder / H100).read_text(encoding="utf-8")
    name = json.dumps(f"H100 {MARKUP}", ensure_ascii=False)
    assert "name: H100 SXM\n" in sheet
    (folder / H100).write_text(sheet.replace("H100 SXM\n", f"{name}\n", 1), encoding="utf-8")
    # Python imports a module of this name at its start; jobs find it beside the package.
    shutil.copy2(Path(__file__).with_name("watched.py"), folder / "sitecustomize.py")
    (folder / OPENED).mkdir()
    return Scratch(folder, home)
