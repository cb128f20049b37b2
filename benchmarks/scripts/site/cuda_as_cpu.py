"""Let a script that requires CUDA run on the CPU: the reference of what it computes."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class CudaAsCpu(TorchFunctionMode):
    """Put on the CPU what a call asks for on CUDA."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        replaced = {name: _host(value) for name, value in (kwargs or {}).items()}
        return func(*map(_host, args), **replaced)


def _host(value: Any) -> Any:
    kind = value.type if isinstance(value, torch.device) else value
    return "cpu" if isinstance(kind, str) and kind.split(":")[0] == "cuda" else value


def install() -> None:
    """Make `.cuda()` return its object and CUDA devices mean the CPU, for this process."""
    move, load = torch.nn.Module.to, torch.load
    torch.Tensor.cuda = lambda self, *args, **kwargs: self
    torch.nn.Module.cuda = lambda self, *args, **kwargs: self
    torch.nn.Module.to = lambda self, *args, **kwargs: move(
        self, *map(_host, args), **{name: _host(value) for name, value in kwargs.items()}
    )
    default = torch.set_default_tensor_type
    torch.set_default_tensor_type = lambda kind: None if "cuda" in str(kind) else default(kind)
    torch.load = lambda *args, **kwargs: load(*args, **{**kwargs, "map_location": "cpu"})
    CudaAsCpu().__enter__()
