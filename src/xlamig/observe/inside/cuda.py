"""Lets a CUDA program run on XLA as it stands: what asks for CUDA is given the XLA device.

What is replaced by name is replaced for all threads; device arguments need a mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import torch
import torch_xla
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.overrides import TorchFunctionMode

from . import frames

_XLA = torch.device("xla", 0)
_GPU = SimpleNamespace(name="XLA", major=8, minor=0, total_memory=1 << 34, multi_processor_count=1)


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


class AsCuda(TorchFunctionMode):
    """Maps device arguments on the way in, and what tensors say about theirs to the user's code."""

    def __init__(self, noted: Callable[[str], None]) -> None:
        super().__init__()
        self.noted = noted

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.device:
            return func(*args, **kwargs)
        if func in _ANSWERS and frames.called_by_user():
            return _ANSWERS[func](func(*args))
        asked = [value for value in (*args, *kwargs.values()) if _is_cuda(value)]
        if asked:
            self.noted("device arguments")
            args = tuple(_XLA if _is_cuda(value) else value for value in args)
            kwargs = {name: _XLA if _is_cuda(value) else value for name, value in kwargs.items()}
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if kwargs.get("dtype") is not None or func is torch.Tensor.type:
            args = tuple(_type(value) for value in args)
        return func(*args, **kwargs)


def _type(value: Any) -> Any:
    return value.replace("torch.cuda.", "torch.") if isinstance(value, str) else value


def _device_seen(device: torch.device) -> torch.device:
    return torch.device("cuda", 0) if device.type == "xla" else device


_ANSWERS: dict[Any, Callable[[Any], Any]] = {torch.Tensor.device.__get__: _device_seen}


def install(noted: Callable[[str], None], left: Callable[[str], None]) -> None:
    """`left` is told what the program calls and nothing stands for."""
    _tell_the_rest(left)
    _replace_methods(noted)
    _replace_module(noted)
    _replace_precision(noted)
    _sync_after_optimizers(noted)


def _told(
    name: str, noted: Callable[[str], None], function: Callable[..., Any], *, users: bool = False
) -> Callable[..., Any]:
    """The function, which also says that it was called; with `users`, only by the program itself."""

    @functools.wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:
        if not users or frames.called_by_user():
            noted(name)
        return function(*args, **kwargs)

    return told


def _replace_methods(noted: Callable[[str], None]) -> None:
    plain_to = torch.Tensor.to

    def cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        return plain_to(self, _XLA)

    def module_cuda(self: Any, device: Any = None) -> Any:
        return self.to(_XLA)

    def pin_memory(self: Any, device: Any = None) -> Any:
        return self

    torch.Tensor.cuda = _told("Tensor.cuda", noted, cuda)
    torch.nn.Module.cuda = _told("Module.cuda", noted, module_cuda)
    torch.Tensor.pin_memory = _told("Tensor.pin_memory", noted, pin_memory)
    torch.Tensor.is_cuda = property(lambda self: self.device.type in ("xla", "cuda"))
    torch.Tensor.record_stream = _told("Tensor.record_stream", noted, lambda self, stream: None)


def _replace_module(noted: Callable[[str], None]) -> None:
    """torch.cuda as if there was one GPU: answers where a program branches on them, else nothing."""
    answers: dict[str, Any] = {
        "is_available": True, "is_initialized": True, "device_count": 1, "current_device": 0,
        "get_device_name": "XLA", "get_device_capability": (8, 0), "is_bf16_supported": True,
        "get_rng_state_all": [], "is_current_stream_capturing": False,
        "get_device_properties": _GPU,
    }  # fmt: skip
    nothing = (
        "set_device", "init", "empty_cache", "ipc_collect", "seed", "seed_all",
        "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
        "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    )  # fmt: skip
    zero = (
        "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
        "max_memory_cached",
    )  # fmt: skip
    functions: dict[str, Callable[..., Any]] = {
        **{name: (lambda *a, value=value, **k: value) for name, value in answers.items()},
        **dict.fromkeys(nothing, lambda *a, **k: None),
        **dict.fromkeys(zero, lambda *a, **k: 0),
        "synchronize": lambda *a, **k: torch_xla.sync(wait=True),
        "mem_get_info": lambda *a, **k: (1 << 34, 1 << 34),
        "get_rng_state": lambda *a, **k: torch.get_rng_state(),
        "manual_seed": lambda seed: torch_xla.manual_seed(seed),
        "manual_seed_all": lambda seed: torch_xla.manual_seed(seed),
    }
    for name, function in functions.items():
        if hasattr(torch.cuda, name):
            plain = function if name in answers else _told(f"torch.cuda.{name}", noted, function)
            setattr(torch.cuda, name, plain)
    torch.cuda.Event = _Event
    torch.cuda.Stream = _Stream
    torch.cuda.current_stream = torch.cuda.default_stream = lambda *a, **k: _Stream()
    torch.cuda.stream = lambda stream: _Stream()


def _tell_the_rest(left: Callable[[str], None]) -> None:
    """Done first, so that what is replaced is not told."""

    for module, prefix in ((torch.cuda, "torch.cuda"), (torch.cuda.nvtx, "torch.cuda.nvtx")):
        for name, function in list(vars(module).items()):
            if isinstance(function, FunctionType) and not name.startswith("_"):
                setattr(module, name, _told(f"{prefix}.{name}", left, function, users=True))
    start = torch.distributed.init_process_group
    torch.distributed.init_process_group = _told(
        "torch.distributed.init_process_group", left, start, users=True
    )


def _replace_precision(noted: Callable[[str], None]) -> None:
    autocast, scaler = torch.amp.autocast_mode.autocast, torch.amp.GradScaler
    autocast_init, scaler_init = autocast.__init__, scaler.__init__

    def on_xla(self: Any, device_type: str, dtype: Any = None, enabled: bool = True, **extra: Any) -> None:
        if device_type == "cuda":
            noted("autocast")
            device_type, dtype = "xla", torch.bfloat16  # there is no other for XLA
        autocast_init(self, device_type, dtype=dtype, enabled=enabled, **extra)

    def unscaled(self: Any, device: str = "cuda", *args: Any, **extra: Any) -> None:
        noted("GradScaler")
        scaler_init(self, "cpu", *args, **{**extra, "enabled": False})

    autocast.__init__, scaler.__init__ = on_xla, unscaled


def _sync_after_optimizers(noted: Callable[[str], None]) -> None:
    """Closes each step: CUDA programs have no word for that."""

    def sync(optimizer: Any, args: Any, kwargs: Any) -> None:
        noted("torch_xla.sync() after Optimizer.step")
        torch_xla.sync()

    register_optimizer_step_post_hook(sync)


class _Event:
    """Times the host, which is what CUDA events are mostly used for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        from time import perf_counter

        self.at = perf_counter()

    def elapsed_time(self, end: _Event) -> float:
        return (end.at - self.at) * 1e3

    def synchronize(self) -> None: ...
    def wait(self, stream: Any = None) -> None: ...
    def query(self) -> bool:
        return True


class _Stream(_Event):
    """Does nothing: XLA orders its work itself."""

    cuda_stream = 0

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *error: Any) -> None: ...
    def wait_stream(self, stream: Any) -> None: ...
    def wait_event(self, event: Any) -> None: ...
    def record_event(self, event: Any = None) -> Any:
        return event or _Event()
