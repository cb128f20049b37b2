"""Where requests for CUDA go, and the record of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch
import torch_xla

from . import frames


class Redirect:
    """`noted` is called with the name of what was redirected, `left` with that of what was not."""

    def __init__(
        self, device: torch.device, noted: Callable[[str], None], left: Callable[[str], None]
    ) -> None:
        self.device, self.noted, self.left = device, noted, left

    @property
    def is_xla(self) -> bool:
        return self.device.type == "xla"

    def sync(self, wait: bool = False) -> None:
        """Handle `torch.cuda.synchronize` for the device."""
        if self.is_xla:
            torch_xla.sync(wait=wait)

    def move(self, value: Any) -> Any:
        """The same nested value with its tensors on the device."""
        if isinstance(value, torch.Tensor):
            return value.to(self.device)
        if isinstance(value, torch.nn.Module):
            return value.to(self.device)
        if isinstance(value, dict):
            for key in value:
                value[key] = self.move(value[key])
            return value
        if type(value) in (list, tuple):
            return type(value)(map(self.move, value))
        return value

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which also notes that it was called."""

        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.noted(name)
            return function(*args, **kwargs)

        return counted

    def replace(self, owner: Any, name: str, function: Any, told: str = "") -> None:
        """Set what `owner` has under that name; does nothing where it has no such thing."""
        if hasattr(owner, name):
            setattr(owner, name, self.counted(told, function) if told else function)

    def tell_the_rest(self) -> None:
        """Note the program's own calls of torch.cuda; what is redirected later is noted there."""
        for module, prefix in ((torch.cuda, "torch.cuda"), (torch.cuda.nvtx, "torch.cuda.nvtx")):
            for name, function in list(vars(module).items()):
                if isinstance(function, FunctionType) and not name.startswith("_"):
                    setattr(module, name, self._report_calls(f"{prefix}.{name}", function))

    def _report_calls(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def told(*args: Any, **kwargs: Any) -> Any:
            if frames.called_by_user():
                self.left(name)
            return function(*args, **kwargs)

        return told
