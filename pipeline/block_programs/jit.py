"""Programs: functions that run once for every place of a grid, on arguments of Triton's types."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from pipeline.block_programs import dtypes
from pipeline.block_programs.arithmetic import constant
from pipeline.block_programs.block_pointers import Descriptor, TensorDescriptor
from pipeline.block_programs.known import constexpr
from pipeline.block_programs.launch import Launch, Launched, grid_of
from pipeline.block_programs.machine import current
from pipeline.block_programs.memory import Argument, Reinterpreted, arguments
from pipeline.block_programs.rewrite import namespace, rewritten
from pipeline.block_programs.source import stopped
from pipeline.block_programs.tensor import Tensor
from pipeline.errors import LaunchError, UnsupportedError

OPTIONS = (
    "num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "launch_cooperative_grid",
    "waves_per_eu", "matrix_instr_nonkdim", "kpack", "allow_fp8e4nv", "warp_size", "debug",
    "launch_pdl", "num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer",
    "reg_inc_consumer",
)  # fmt: skip
"""What may be asked of the compiler in a launch; nothing that is counted depends on it."""


class Launchable:
    """What ``kernel[grid](...)`` works on."""

    arg_names: tuple[str, ...]
    function: "JITFunction"

    def __getitem__(self, grid: Any) -> Callable[..., Launched]:
        return functools.partial(self.run, grid=grid)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Launched:
        """Launch on a grid."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"{name} of a program is not supported here")


class JITFunction(Launchable):
    """A function of the block language: launched on a grid, or called by another."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType):
            raise LaunchError(f"jit takes a function, not {type(function).__name__}")
        self.fn = function
        self.function = self
        self.signature = inspect.signature(function)
        self.arg_names = tuple(self.signature.parameters)
        self.constexprs = {
            name
            for name, parameter in self.signature.parameters.items()
            if parameter.annotation is constexpr or "constexpr" in str(parameter.annotation)
        }
        self._body: Callable[..., Any] | None = None
        self._session: object = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run inside another program, on its values."""
        machine = current(self.fn.__name__)
        if self._body is None or machine.session is not self._session:
            # Names are looked up again for every launch: the file may have set them since.
            self._body = self._made()
            self._session = machine.session
        return self._body(*args, **kwargs)

    def _made(self) -> Callable[..., Any]:
        body = FunctionType(self._code, namespace(self.fn), self.fn.__name__, self.fn.__defaults__)
        body.__kwdefaults__ = self.fn.__kwdefaults__
        return body

    @functools.cached_property
    def _code(self) -> Any:
        return rewritten(self.fn)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Launched:
        """Launch on a grid.

        Raises
        ------
        LaunchError
            If arguments or grid do not fit.
        KernelError, UnsupportedError
            If the program does what it must not, or uses what is not supported: with its line.
        """
        if warmup:
            raise UnsupportedError("warmup=True is not supported here: nothing is compiled")
        options = {
            name: kwargs.pop(name) for name in OPTIONS if name in kwargs and self._free(name)
        }
        given = self._bound(args, kwargs)
        sizes = grid_of(grid(dict(given)) if callable(grid) else grid)
        arrays = {n: _array(x) for n, x in leaves(given) if _is_array(x)}
        pointers = arguments(arrays)
        values = {name: self._value(name, x, pointers) for name, x in given.items()}
        launch = Launch(sizes, list(pointers.values()), functools.partial(self, **values))
        try:
            return launch.run(options)
        except Exception as error:
            said = stopped(error, JITFunction.__call__.__code__)
            if said is error:
                raise
            raise said from error

    def _free(self, name: str) -> bool:
        return name not in self.arg_names

    def _bound(self, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LaunchError(f"{self.fn.__name__}: {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def _value(self, name: str, given: Any, pointers: Mapping[str, Argument]) -> Any:
        """Turn an argument into what the program sees, as Triton specialises it."""
        if name in pointers:
            if name in self.constexprs:
                raise LaunchError(f"{name} is constexpr and cannot be an array")
            pointer = dtypes.PointerType(pointers[name].dtype)
            base = Tensor(np.zeros(1, np.int64), pointer, pointers[name])
            if not isinstance(given, TensorDescriptor):
                return base
            return Descriptor(base, given.shape, given.strides, given.block_shape, given.padding)
        if name in self.constexprs:
            return _plain(given)
        if isinstance(given, tuple):
            return tuple(self._value(part, x, pointers) for part, x in _parts(name, given))
        annotation = None
        if name in self.signature.parameters:
            annotation = dtypes.of_annotation(self.signature.parameters[name].annotation)
        return _scalar(name, _plain(given), annotation)

    def __repr__(self) -> str:
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"


def _parts(name: str, values: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    return ((f"{name}[{i}]", value) for i, value in enumerate(values))


def leaves(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Arguments one by one, with their names; tuples are taken apart."""
    for name, value in arguments.items():
        if isinstance(value, tuple):
            yield from leaves(dict(_parts(name, value)))
        else:
            yield name, value


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | Reinterpreted | TensorDescriptor)


def _array(value: Any) -> Any:
    return value.base if isinstance(value, TensorDescriptor) else value


def _plain(value: Any) -> Any:
    """Numbers of numpy are numbers."""
    return value.item() if isinstance(value, np.generic) else value


def _scalar(name: str, value: Any, annotation: dtypes.DType | None) -> Any:
    """Give a number as int32, int64, uint64 or fp32; 1 stays known, as nothing does."""
    if value is None or isinstance(value, dtypes.DType | JITFunction):
        return value
    if isinstance(value, bool):
        dtype = dtypes.int1
    elif isinstance(value, int):
        if value == 1 and annotation is None:
            return 1
        dtype = _integer(value)
    elif isinstance(value, float):
        dtype = dtypes.float32
    else:
        raise LaunchError(
            f"{name}: an argument is a numpy array, a number, None, or constexpr; "
            f"not {type(value).__name__}"
        )
    made = constant(Tensor(np.empty(1), dtypes.int32), value, annotation or dtype)
    return Tensor(made.data, made.dtype)


def _integer(value: int) -> dtypes.DType:
    if -(2**31) <= value < 2**31:
        return dtypes.int32
    return dtypes.int64 if value < 2**63 else dtypes.uint64


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a program of a function; with or without options, as a decorator.

    Raises
    ------
    UnsupportedError
        If an option is not known.
    """
    known = {"version", "repr", "launch_metadata", "do_not_specialize", "debug", "noinline",
             "do_not_specialize_on_alignment"}  # fmt: skip
    if unknown := sorted(set(options) - known):
        raise UnsupportedError(f"jit: {', '.join(unknown)} is not supported here")
    return JITFunction if fn is None else JITFunction(fn)


def unsupported(name: str) -> NoReturn:
    """Say by name what is not supported."""
    raise UnsupportedError(
        f"triton.{name} is not supported here; docs/BLOCK_PROGRAMS.md lists what is"
    )
