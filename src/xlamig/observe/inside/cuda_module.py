"""torch.cuda, torch.accelerator and CUDA's methods, as of a machine with one GPU."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from . import frames
from .redirect import Redirect

_GPU = SimpleNamespace(
    name="XLA", major=8, minor=0, total_memory=1 << 34, multi_processor_count=1, warp_size=32, gcnArchName=""
)
_ANSWERS: dict[str, Any] = {
    "is_available": True, "is_initialized": True, "device_count": 1, "current_device": 0,
    "get_device_name": "XLA", "get_device_capability": (8, 0), "is_bf16_supported": True,
    "get_rng_state_all": [], "is_current_stream_capturing": False, "get_device_properties": _GPU,
    "get_arch_list": ["sm_80"], "can_device_access_peer": False,
}  # fmt: skip
_NOTHING = (
    "set_device", "init", "empty_cache", "ipc_collect", "seed", "seed_all",
    "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_accumulated_memory_stats", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    "set_sync_debug_mode",
)  # fmt: skip
_ZERO = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
    "max_memory_cached", "utilization", "temperature", "power_draw",
)  # fmt: skip
_TYPES = (
    "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor", "ShortTensor",
    "IntTensor", "LongTensor", "BoolTensor",
)  # fmt: skip


def install(redirect: Redirect) -> None:
    _replace_functions(redirect)
    _replace_accelerator(redirect)
    _replace_methods(redirect)
    for name in _TYPES:
        setattr(torch.cuda, name, _TensorType(name, redirect))
    _replace_default_type(redirect)
    torch.cuda.Event = torch.Event = Event
    torch.cuda.Stream = torch.Stream = Stream
    torch.cuda.device = torch.cuda.device_of = _Device


def _replace_default_type(redirect: Redirect) -> None:
    """`torch.set_default_tensor_type("torch.cuda.FloatTensor")` chooses a device as well."""
    plain = torch.set_default_tensor_type

    def chosen(kind: Any) -> None:
        plain(plain_type(kind))
        torch.set_default_device(redirect.device if is_type(kind) else None)

    redirect.replace(torch, "set_default_tensor_type", chosen, "torch.set_default_tensor_type")


def _replace_functions(redirect: Redirect) -> None:
    import torch_xla

    def manual_seed(seed: int) -> None:
        if redirect.is_xla:
            torch_xla.manual_seed(seed)

    functions: dict[str, Callable[..., Any]] = {
        **dict.fromkeys(_NOTHING, lambda *a, **k: None),
        **dict.fromkeys(_ZERO, lambda *a, **k: 0),
        "synchronize": lambda *a, **k: redirect.sync(wait=True),
        "memory_stats": lambda *a, **k: {},
        "memory_summary": lambda *a, **k: "",
        "mem_get_info": lambda *a, **k: (1 << 34, 1 << 34),
        "get_rng_state": lambda *a, **k: torch.get_rng_state(),
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed,
    }
    for name, function in functions.items():
        redirect.replace(torch.cuda, name, function, f"torch.cuda.{name}")
    for name, value in _ANSWERS.items():
        redirect.replace(torch.cuda, name, lambda *a, value=value, **k: value)
    for name in ("current_stream", "default_stream", "stream"):
        redirect.replace(torch.cuda, name, lambda *a, **k: Stream())
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        redirect.replace(torch.cuda.nvtx, name, lambda *a, **k: None)
    torch.cuda.nvtx.range = lambda *a, **k: contextlib.nullcontext()


def _replace_accelerator(redirect: Redirect) -> None:
    answers = {
        "current_accelerator": torch.device("cuda"), "device_count": 1, "current_device_index": 0,
        "current_device_idx": 0, "set_device_index": None, "set_device_idx": None,
    }  # fmt: skip
    for name, value in answers.items():
        redirect.replace(torch.accelerator, name, lambda *a, value=value, **k: value)
    # torch's own loaders ask it whether to pin memory.
    redirect.replace(torch.accelerator, "is_available", lambda: frames.called_by_user())
    redirect.replace(torch.accelerator, "synchronize", lambda *a, **k: redirect.sync(wait=True))


def _replace_methods(redirect: Redirect) -> None:
    device = redirect.device
    plain_to, module_to = torch.Tensor.to, torch.nn.Module.to

    def moved(module: Any, *args: Any, **kwargs: Any) -> Any:
        return module_to(module, *(device if type(a) is int else a for a in args), **kwargs)

    torch.nn.Module.to = moved
    replace = redirect.replace
    replace(torch.Tensor, "cuda", lambda self, *a, **k: plain_to(self, device), "Tensor.cuda")
    replace(torch.nn.Module, "cuda", lambda self, device=None: self.to(redirect.device), "Module.cuda")
    replace(torch.Tensor, "pin_memory", lambda self, device=None: self, "Tensor.pin_memory")
    replace(torch.Tensor, "record_stream", lambda self, stream: None, "Tensor.record_stream")
    if redirect.is_xla:
        torch.Tensor.is_cuda = property(lambda self: self.device.type in ("xla", "cuda"))
    for storage in (torch.UntypedStorage, torch.TypedStorage):
        replace(storage, "cuda", lambda self, *a, **k: self)


class _TensorType:
    """`torch.cuda.FloatTensor`: makes tensors, and names a type."""

    def __init__(self, name: str, redirect: Redirect) -> None:
        self.plain = getattr(torch, name)
        self.redirect = redirect

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.is_cuda and value.dtype == self.plain.dtype

    def __call__(self, *args: Any) -> torch.Tensor:
        self.redirect.noted("torch.cuda tensor types")
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            return args[0].type(self.plain).to(self.redirect.device)
        made: torch.Tensor = self.plain(*args)
        return made.to(self.redirect.device)


def is_type(value: Any) -> bool:
    """Return whether it is one of CUDA's tensor types, or the name of one."""
    return isinstance(value, _TensorType) or (isinstance(value, str) and value.startswith("torch.cuda."))


def plain_type(value: Any) -> Any:
    """The CPU's tensor type for CUDA's, anything else as it is."""
    if isinstance(value, _TensorType):
        return value.plain
    return value.replace("torch.cuda.", "torch.") if is_type(value) else value


class Event:
    """Times the host, which is what CUDA events are mostly used for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        return (end.at - self.at) * 1e3

    def synchronize(self) -> None: ...
    def wait(self, stream: Any = None) -> None: ...
    def query(self) -> bool:
        return True


class Stream(Event):
    """Does nothing: XLA orders its work itself."""

    cuda_stream = stream_id = device_index = 0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: Any) -> None: ...
    def wait_stream(self, stream: Any) -> None: ...
    def wait_event(self, event: Any) -> None: ...
    def record_event(self, event: Any = None) -> Any:
        return event or Event()


class _Device:
    """`with torch.cuda.device(0)`: there is one."""

    def __init__(self, device: Any = 0) -> None:
        self.idx = self.prev_idx = 0

    def __enter__(self) -> None: ...
    def __exit__(self, *error: Any) -> None: ...
