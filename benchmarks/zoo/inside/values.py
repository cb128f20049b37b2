"""The names that the expressions of a manifest may use for their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def modules() -> dict[str, Any]:
    return {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np}


def helpers(device: torch.device) -> dict[str, Any]:
    """Return helpers that draw values on the host and copy them to `device`, as a data loader does."""

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape).to(device)

    def rand(*shape: int) -> torch.Tensor:
        return torch.rand(*shape).to(device)

    def randint(high: int, *shape: int) -> torch.Tensor:
        return torch.randint(0, high, shape).to(device)

    def flags(*shape: int) -> torch.Tensor:
        return (torch.rand(*shape) > 0.5).to(device)

    def on(value: Any) -> Any:
        return value.to(device)

    def leaf(value: torch.Tensor) -> torch.Tensor:
        """Return `value` as a tensor that collects a gradient."""
        return value.detach().requires_grad_()

    return {f.__name__: f for f in (randn, rand, randint, flags, on, leaf)} | {"device": device}
