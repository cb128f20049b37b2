"""Lets a program for XLA run on the CPU as it stands, to compare it with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch_xla
from torch.overrides import TorchFunctionMode

_CPU = torch.device("cpu")


def _is_xla(value: Any) -> bool:
    if isinstance(value, torch.device):
        return bool(value.type == "xla")
    return isinstance(value, str) and (value == "xla" or value.startswith("xla:"))


class AsCpu(TorchFunctionMode):
    """Maps device arguments."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = {name: _CPU if _is_xla(value) else value for name, value in (kwargs or {}).items()}
        return func(*(_CPU if _is_xla(value) else value for value in args), **kwargs)


class _Loader:
    """`MpDeviceLoader`, of which libraries make subclasses, without a device."""

    def __init__(self, loader: Any, device: Any, **kwargs: Any) -> None:
        self._loader, self._device = loader, device

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)


def install() -> None:
    """Replace the device by the CPU in torch_xla's functions, or skip them."""
    import torch_xla.core.xla_model as xm
    import torch_xla.distributed.parallel_loader as pl

    def optimizer_step(optimizer: Any, *args: Any, optimizer_args: Any = None, **kwargs: Any) -> Any:
        return optimizer.step(**(optimizer_args or {}))

    torch_xla.device = xm.xla_device = lambda *a, **k: _CPU
    torch_xla.sync = xm.mark_step = xm.wait_device_ops = lambda *a, **k: None
    torch_xla.step = contextlib.nullcontext
    torch_xla.compile = lambda function=None, **k: function or (lambda given: given)
    torch_xla.launch = lambda function, args=(), **k: function(0, *args)
    xm.set_replication = lambda device, devices: None
    xm.optimizer_step = optimizer_step
    xm.add_step_closure = lambda closure, args=(), **k: closure(*args)
    xm.all_reduce = lambda kind, inputs, *a, **k: inputs
    xm.mesh_reduce = lambda tag, data, reduce: reduce([data])
    xm.save = lambda data, file, *a, **k: torch.save(data, file)
    pl.MpDeviceLoader = _Loader
    _restore()
    _replace_autocast()


def _restore() -> None:
    """Give torch back what torch_xla has put a version for XLA in the place of."""
    for owner in (torch.nn, torch.nn.utils):
        for name, value in list(vars(owner).items()):
            if hasattr(value, "_orig"):
                setattr(owner, name, value._orig)


def _replace_autocast() -> None:
    autocast = torch.amp.autocast_mode.autocast
    init = autocast.__init__

    def on_cpu(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if device_type == "xla":
            device_type, dtype = "cpu", dtype or torch.bfloat16
        init(self, device_type, dtype, *args, **kwargs)

    autocast.__init__ = on_cpu
