"""Sends what asks for CUDA, XLA or a TPU to a device of torch_tpu that stands for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_STANDS_FOR = torch.device("meta")
_DEVICES = ("cuda", "tpu", "xla")


def _asked(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type in _DEVICES
    return isinstance(value, str) and value.partition(":")[0] in _DEVICES


class ToTpu(TorchFunctionMode):
    """Maps device arguments, and counts the calls that have one."""

    def __init__(self, redirected: Counter[str]) -> None:
        super().__init__()
        self.redirected = redirected

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        if any(map(_asked, (*args, *(kwargs or {}).values()))):
            self.redirected["device arguments"] += 1
        args = tuple(_STANDS_FOR if _asked(value) else value for value in args)
        mapped = {name: _STANDS_FOR if _asked(value) else value for name, value in (kwargs or {}).items()}
        if mapped.get("pin_memory"):
            mapped["pin_memory"] = False
        return func(*args, **mapped)


def install(redirected: Counter[str]) -> None:
    """Methods that name their device, and what a program asks before it chooses one."""

    def moving(name: str) -> Callable[..., Any]:
        def move(self: Any, *args: Any, **kwargs: Any) -> Any:
            redirected[name] += 1
            return self.to(_STANDS_FOR)

        return move

    torch.Tensor.cuda, torch.Tensor.tpu = moving("Tensor.cuda"), moving("Tensor.tpu")
    torch.nn.Module.cuda, torch.nn.Module.tpu = moving("Module.cuda"), moving("Module.tpu")
    torch.Tensor.pin_memory = lambda self, *a, **k: self
    torch.Tensor.is_cuda = property(lambda self: self.device.type == "meta")
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.synchronize = lambda *a, **k: None
    torch.cuda.empty_cache = lambda: None
    torch.compile = lambda model=None, **k: model if model is not None else (lambda given: given)
    init = torch.amp.autocast_mode.autocast.__init__

    def on_cpu(self: Any, device_type: str, dtype: Any = None, enabled: bool = True, **more: Any) -> None:
        asked = device_type in _DEVICES
        init(self, "cpu" if asked else device_type, dtype=dtype, enabled=enabled and not asked, **more)

    torch.amp.autocast_mode.autocast.__init__ = on_cpu
    _accept_optimizers()


def _accept_optimizers() -> None:
    """Capturable optimizers ask for one of a list of devices."""
    import torch.optim.optimizer as module

    supported = module._get_capturable_supported_devices
    module._get_capturable_supported_devices = lambda *a, **k: [*supported(*a, **k), "meta"]
