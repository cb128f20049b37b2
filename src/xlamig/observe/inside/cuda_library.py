"""Emulate torch's CUDA behaviour: optimizers, precision, files, generators, compilation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from .redirect import Redirect

_FOR_CUDA = ("fused", "foreach", "capturable")


def install(redirect: Redirect) -> None:
    _replace_precision(redirect)
    _replace_optimizers(redirect)
    _replace_load(redirect)
    _replace_generator(redirect)
    _replace_compile(redirect)
    torch.utils.checkpoint._infer_device_type = lambda *args: "cpu"
    if redirect.is_xla:
        _sync_after_optimizers(redirect)


def _replace_precision(redirect: Redirect) -> None:
    autocast: Any = torch.amp.autocast_mode.autocast
    scaler: Any = torch.amp.GradScaler
    autocast_init, scaler_init = autocast.__init__, scaler.__init__

    def redirected(
        self: Any, device_type: str, dtype: Any = None, enabled: bool = True, *args: Any, **extra: Any
    ) -> None:
        if device_type == "cuda":
            redirect.noted("autocast")
            device_type, dtype = redirect.device.type, torch.bfloat16  # there is no other for XLA
        autocast_init(self, device_type, dtype, enabled, *args, **extra)

    def unscaled(self: Any, device: str = "cuda", *args: Any, **extra: Any) -> None:
        redirect.noted("GradScaler")
        scaler_init(self, "cpu", *args[:3], **{**extra, "enabled": False})

    autocast.__init__, scaler.__init__ = redirected, unscaled


def _replace_optimizers(redirect: Redirect) -> None:
    """Kernels that only CUDA has are left out; they compute the same."""
    for kind in vars(torch.optim).values():
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer):
            _leave_out(kind, redirect)


def _leave_out(kind: Any, redirect: Redirect) -> None:
    names = [name for name in _FOR_CUDA if name in inspect.signature(kind.__init__).parameters]
    if names:
        kind.__init__ = _without(kind.__init__, names, redirect)


def _without(init: Callable[..., None], names: list[str], redirect: Redirect) -> Callable[..., None]:
    @functools.wraps(init)
    def made(*args: Any, **kwargs: Any) -> None:
        for name in names:
            if kwargs.pop(name, None):
                redirect.noted(f"Optimizer({name}=True)")
        init(*args, **kwargs)

    return made


def _replace_load(redirect: Redirect) -> None:
    load = torch.load

    @functools.wraps(load)
    def loaded(file: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        redirect.noted("torch.load")
        result = load(file, _cpu_first(map_location), *args, **kwargs)
        stays = map_location is not None and str(map_location).startswith("cpu")
        return _to_cpu(result) if stays else result if callable(map_location) else redirect.move(result)

    torch.load = loaded


def _cpu_first(map_location: Any) -> Any:
    return map_location if callable(map_location) else "cpu"


def _to_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        for key in value:
            value[key] = _to_cpu(value[key])
        return value
    return type(value)(map(_to_cpu, value)) if type(value) in (list, tuple) else value


def _replace_generator(redirect: Redirect) -> None:
    made: Any = torch.Generator

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, made)

    class Generator(metaclass=Kind):
        """A generator of the CPU, whatever device was asked for."""

        def __new__(cls, device: Any = "cpu") -> Any:
            if str(device).startswith("cuda"):
                redirect.noted("torch.Generator")
            return made()

    torch.Generator = Generator


def _replace_compile(redirect: Redirect) -> None:
    """XLA compiles what it is given; inductor has no code for it."""

    def unchanged(model: Any = None, **options: Any) -> Any:
        redirect.noted("torch.compile")
        return model if model is not None else lambda function: function

    torch.compile = unchanged
    torch.nn.Module.compile = lambda self, *a, **k: None


def _sync_after_optimizers(redirect: Redirect) -> None:
    """Closes each step: CUDA programs have no word for that."""

    def sync(optimizer: Any, args: Any, kwargs: Any) -> None:
        redirect.noted("torch_xla.sync() after Optimizer.step")
        redirect.sync()

    register_optimizer_step_post_hook(sync)
