"""Trains and evaluates one case for a few steps."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch


def run(scope: dict[str, Any], case: Mapping[str, Any], end_step: Callable[[], None]) -> None:
    """Build `m` as `case` says, then evaluate its call in each training and evaluation step."""
    _seed(0)
    model = eval(case["make"], scope)
    if isinstance(model, torch.nn.Module):
        model = model.to(scope["device"])
    scope["m"] = model
    optimizer = _optimizer(model)
    end_step()
    for step in range(sum(case["steps"])):
        training = step < case["steps"][0]
        _seed(step + 1)
        if isinstance(model, torch.nn.Module):
            model.train(training)
        with nullcontext() if training else torch.no_grad():
            output = eval(case["call"], scope)  # alive until the step ends: else XLA computes nothing
        loss = _total(output)
        if training and loss is not None and loss.requires_grad:
            loss.backward()
            if optimizer is not None:
                optimizer.step()
                optimizer.zero_grad()
        end_step()


def _seed(number: int) -> None:
    torch.manual_seed(number)
    np.random.seed(number)
    random.seed(number)


def _optimizer(model: Any) -> torch.optim.Optimizer | None:
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    trainable = [p for p in parameters if p.requires_grad and p.numel()]
    return torch.optim.SGD(trainable, lr=1e-3) if trainable else None


def _total(output: Any) -> torch.Tensor | None:
    """Return the sum of the means of all differentiable tensors in `output`, or its `loss`."""
    loss = getattr(output, "loss", None)
    if torch.is_tensor(loss) and loss.requires_grad:
        return loss
    means = [
        (t.abs() if t.is_complex() else t).float().mean()
        for t in _tensors(output, 4)
        if t.requires_grad and not t.is_sparse
    ]
    return sum(means[1:], means[0]) if means else None


def _tensors(value: Any, depth: int) -> Iterator[torch.Tensor]:
    if torch.is_tensor(value):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item, depth - 1)
    elif depth and hasattr(value, "__dict__") and not callable(value):
        yield from _tensors(vars(value), depth - 1)
