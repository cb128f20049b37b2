"""Whether the program trains: its losses, and whether its parameters change.

Keeps tensors where they are and reads them when the program has ended, so that no step pays for it.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

MOST_LOSSES = 100


class Training:
    """`losses` are what `backward` was called on, in order; parameters are those given to optimizers."""

    def __init__(self, most: int = 0) -> None:
        """Ends the program after `most` losses."""
        self.losses: list[torch.Tensor] = []
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.most = most
        self._watch_losses()
        register_optimizer_step_pre_hook(self._about_to_step)

    def _watch_losses(self) -> None:
        backward = torch.autograd.backward

        @functools.wraps(backward)
        def watched(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if self.most and len(self.losses) >= self.most:
                raise SystemExit(0)
            if isinstance(tensors, torch.Tensor) and tensors.numel() == 1 and len(self.losses) < MOST_LOSSES:
                self.losses.append(tensors.detach())
            return backward(tensors, *args, **kwargs)

        torch.autograd.backward = watched

    def _about_to_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) not in self.before and parameter.requires_grad:
                    self.before[id(parameter)] = (parameter, parameter.detach().clone())

    def summary(self) -> dict[str, Any]:
        """Reads everything; for when the program has ended."""
        losses = [float(loss) for loss in self.losses]
        changed = sum(not torch.equal(now.detach(), then) for now, then in self.before.values())
        return {
            "losses": [loss if math.isfinite(loss) else str(loss) for loss in losses],
            "parameters": len(self.before),
            "changed": changed,
            "devices": sorted({now.device.type for now, _ in self.before.values()}),
        }
