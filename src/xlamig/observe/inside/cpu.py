"""Lets a program for XLA run on the CPU as it stands, to compare its losses with."""

from __future__ import annotations

import contextlib
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


def install() -> None:
    """What torch_xla's own functions do with a device is done with the CPU, or not at all."""
    import torch_xla.core.xla_model as xm
    import torch_xla.distributed.parallel_loader as pl

    torch_xla.device = xm.xla_device = lambda *a, **k: _CPU
    torch_xla.sync = xm.mark_step = xm.wait_device_ops = lambda *a, **k: None
    torch_xla.manual_seed = lambda seed, device=None: torch.manual_seed(seed)
    torch_xla.step = contextlib.nullcontext
    torch_xla.compile = lambda function=None, **k: function or (lambda given: given)
    xm.set_rng_state = lambda seed, device=None: torch.manual_seed(seed)
    xm.optimizer_step = lambda optimizer, *a, optimizer_args=None, **k: optimizer.step(
        **(optimizer_args or {})
    )
    pl.MpDeviceLoader = lambda loader, device, **k: loader
