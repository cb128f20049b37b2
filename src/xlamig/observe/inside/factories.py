"""Functions that create a tensor and write it to one of XLA, such as `torch.eye(n, out=x)`."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import torch

_NAMES = (
    "arange", "eye", "fft_fftfreq", "fft_rfftfreq", "full", "linspace", "logspace", "normal", "ones", "rand",
    "randint", "randn", "randperm", "range", "zeros",
)  # fmt: skip
_library = torch.library.Library("aten", "IMPL")  # its kernels last as long as it does
_thread = threading.local()


def install() -> None:
    """Let `is_writing` be true while one of these functions writes to `out`."""
    for packet in (getattr(torch.ops.aten, name) for name in _NAMES):
        for function in (getattr(packet, overload) for overload in packet.overloads()):
            if _tensors(function) == ["out"]:
                _library.impl(function, partial(_written, function), "AutogradXLA")


def is_writing() -> bool:
    """Return whether functionalization is creating what it then writes to `out`."""
    return getattr(_thread, "writing", False)


def _tensors(function: Any) -> list[str]:
    """Return the names of an operator's parameters that are tensors."""
    return [one.name for one in function._schema.arguments if isinstance(one.type, torch.TensorType)]


def _written(function: Any, *args: Any, **kwargs: Any) -> Any:
    _thread.writing = True
    try:
        with torch._C._AutoDispatchBelowAutograd():
            return function(*args, **kwargs)
    finally:
        _thread.writing = False
