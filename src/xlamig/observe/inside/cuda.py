"""Lets a CUDA program run as it stands where there is no GPU: what asks for CUDA gets another device.

What is replaced by name is replaced for all threads; device arguments need a mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import cuda_library, cuda_module, cuda_parallel, frames
from .redirect import Redirect

_DEVICE_FIRST = (torch.Tensor.to, torch.Tensor.cuda)


class AsCuda(TorchFunctionMode):
    """Maps device arguments on the way in, and what tensors say about theirs to the user's code."""

    def __init__(self, redirect: Redirect) -> None:
        super().__init__()
        self.redirect = redirect

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.device:
            return func(*args, **kwargs)
        if func in _ANSWERS and frames.called_by_user():
            return _ANSWERS[func](func(*args), self.redirect)
        if func is torch.Tensor.type and any(map(cuda_module.is_type, (*args, *kwargs.values()))):
            types_of = [cuda_module.plain_type(value) for value in args]
            return func(*types_of, **kwargs).to(self.redirect.device)
        args, kwargs = self._redirected(func, args, kwargs)
        generator = kwargs.get("generator")
        if isinstance(generator, torch.Generator):
            return self._drawn(func, args, kwargs)
        return func(*args, **kwargs)

    def _redirected(self, func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        device = self.redirect.device
        if any(map(is_cuda, (*args, *kwargs.values()))):
            self.redirect.noted("device arguments")
            args = tuple(device if is_cuda(value) else value for value in args)
            kwargs = {name: device if is_cuda(value) else value for name, value in kwargs.items()}
        if type(kwargs.get("device")) is int:
            kwargs["device"] = device
        if func in _DEVICE_FIRST and len(args) > 1 and type(args[1]) is int:
            args = (args[0], device, *args[2:])
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        return args, kwargs

    def _drawn(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """With a generator, which is the CPU's, numbers are drawn there."""
        device = self.redirect.device
        if kwargs.get("device") == device:
            return func(*args, **{**kwargs, "device": "cpu"}).to(device)
        if args and isinstance(args[0], torch.Tensor) and args[0].device.type == device.type != "cpu":
            result = func(*(a.cpu() if isinstance(a, torch.Tensor) else a for a in args), **kwargs)
            in_place = getattr(func, "__name__", "").endswith("_")
            return args[0].copy_(result) if in_place else result.to(device)
        return func(*args, **kwargs)


def is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


def _device_seen(device: torch.device, redirect: Redirect) -> torch.device:
    return torch.device("cuda", 0) if device.type == redirect.device.type != "cpu" else device


_ANSWERS: dict[Any, Callable[[Any, Redirect], Any]] = {torch.Tensor.device.__get__: _device_seen}


def install(redirect: Redirect) -> None:
    """Give the redirect's device to everything that asks torch for CUDA."""
    redirect.tell_the_rest()
    cuda_module.install(redirect)
    cuda_library.install(redirect)
    cuda_parallel.install(redirect)
