"""Choosing compile-time arguments: from the other arguments, or by what a launch counts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.block_programs.block_pointers import TensorDescriptor
from pipeline.block_programs.jit import OPTIONS, Launchable, leaves
from pipeline.block_programs.launch import Launched
from pipeline.block_programs.memory import Reinterpreted
from pipeline.errors import LaunchError, UnsupportedError

MOVED = ("load_sectors", "store_sectors", "atomic_sectors")
"""What configurations are compared by: sectors of memory, summed."""


class Config:
    """One choice of compile-time arguments."""

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[Mapping[str, Any]], object] | None = None,
        **options: Any,
    ) -> None:
        if unknown := sorted(set(options) - set(OPTIONS)):
            raise UnsupportedError(f"Config: {', '.join(unknown)} is not supported here")
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.options = options

    def all_kwargs(self) -> dict[str, Any]:
        """Arguments and compiler options of a launch."""
        options = {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            **self.options,
        }
        return self.kwargs | {name: value for name, value in options.items() if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())


class Heuristics(Launchable):
    """A program with arguments that are computed from the others."""

    def __init__(self, fn: Launchable, values: Mapping[str, Callable[..., Any]]) -> None:
        self.fn = fn
        self.function = fn.function
        self.arg_names = fn.arg_names
        self.values = dict(values)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Launched:
        """Compute the arguments that are left, and launch."""
        for name, choose in self.values.items():
            known = dict(zip(self.arg_names, args, strict=False)) | kwargs
            kwargs[name] = choose(known)
        return self.fn.run(*args, grid=grid, **kwargs)


class Autotuner(Launchable):
    """A program that takes the configuration which moves the fewest sectors.

    For every new value of the key arguments all configurations are launched, on arrays that are put
    back afterwards. Of equals the one with fewer programs is taken, then the first.
    """

    def __init__(
        self,
        fn: Launchable,
        configs: Sequence[Config],
        key: Sequence[str],
        prune: Mapping[str, Any],
    ) -> None:
        self.fn = fn
        self.function = fn.function
        self.arg_names = fn.arg_names
        self.configs = list(configs) or [Config({})]
        self.keys = tuple(key)
        self.prune = dict(prune)
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.best_config: Config | None = None
        if unknown := sorted(set(self.keys) - set(self.arg_names)):
            raise LaunchError(f"autotune: key {', '.join(unknown)} is no argument of the program")

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Launched:
        """Choose, where this key is new, and launch."""
        given = dict(zip(self.arg_names, args, strict=False)) | kwargs
        kinds = tuple(str(x.dtype) for x in given.values() if hasattr(x, "dtype"))
        key = (*(given.get(name) for name in self.keys), *kinds)
        if key not in self.cache:
            self.cache[key] = self._chosen(given, grid)
        self.best_config = self.cache[key]
        return self._launch(self.best_config, given, grid)

    def _launch(self, config: Config, given: Mapping[str, Any], grid: Any) -> Launched:
        arguments = dict(given) | config.all_kwargs()
        if config.pre_hook:
            config.pre_hook(arguments)
        return self.fn.run(grid=grid, **arguments)

    def _chosen(self, given: Mapping[str, Any], grid: Any) -> Config:
        configs = self._pruned(given)
        if len(configs) == 1:
            return configs[0]
        costs = [self._cost(config, given, grid) for config in configs]
        return configs[costs.index(min(costs))]

    def _cost(self, config: Config, given: Mapping[str, Any], grid: Any) -> tuple[int, int]:
        """Sectors and programs of a trial launch."""
        arrays = [
            x.base if isinstance(x, Reinterpreted | TensorDescriptor) else x
            for _, x in leaves(given)
        ]
        arrays = [x for x in arrays if isinstance(x, np.ndarray) and x.flags.writeable]
        copies = [array.copy() for array in arrays]
        try:
            counters = self._launch(config, given, grid).counters
        finally:
            for array, copy in zip(arrays, copies, strict=True):
                array[...] = copy
        return sum(counters[name] for name in MOVED), counters["programs"]

    def _pruned(self, given: Mapping[str, Any]) -> list[Config]:
        configs = self.configs
        if early := self.prune.get("early_config_prune"):
            configs = list(early(configs, dict(given), **given))
        model = self.prune.get("perf_model")
        if model is not None:
            most = int(self.prune.get("top_k", len(configs)))
            configs = sorted(configs, key=lambda c: model(**dict(given) | c.all_kwargs()))[:most]
        if not configs:
            raise LaunchError("autotune: prune_configs_by leaves no configuration")
        return configs


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,  # noqa: ARG001 -- arrays are put back after trials
    restore_value: Sequence[str] | None = None,  # noqa: ARG001
    **timing: Any,
) -> Callable[[Launchable], Autotuner]:
    """Choose among configurations by counted cost; see :class:`Autotuner`.

    Raises
    ------
    UnsupportedError
        If an option is not known; those that say how to measure time have no effect.
    """
    known = {
        "warmup",
        "rep",
        "use_cuda_graph",
        "do_bench",
        "cache_results",
        "pre_hook",
        "post_hook",
    }
    hooks = {name for name in ("pre_hook", "post_hook") if timing.get(name) is not None}
    if unknown := sorted(set(timing) - known | hooks):
        raise UnsupportedError(f"autotune: {', '.join(unknown)} is not supported here")
    return lambda fn: Autotuner(_program(fn, "autotune"), configs, key, prune_configs_by or {})


def heuristics(values: Mapping[str, Callable[..., Any]]) -> Callable[[Launchable], Heuristics]:
    """Compute compile-time arguments from the others."""
    return lambda fn: Heuristics(_program(fn, "heuristics"), values)


def _program(fn: Any, name: str) -> Launchable:
    if not isinstance(fn, Launchable):
        raise LaunchError(f"{name} takes a program: write @triton.jit below @triton.{name}")
    return fn
