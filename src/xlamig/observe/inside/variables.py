"""Tensors that a program keeps beside its modules: averaged weights, queues, running values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from . import frames

DEEPEST = 4
MOST = 2000


def kept_tensors(frame: FrameType | None) -> dict[str, torch.Tensor]:
    """Floating tensors in containers and in objects of the program's own classes, by their path."""
    found: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    while frame is not None:
        if frames.is_users(frame.f_code):
            for scope in (frame.f_locals, frame.f_globals):
                for name, value in list(scope.items()):
                    if not name.startswith("__"):
                        _collect(name, value, found, seen, 0)
        frame = frame.f_back
    return found


def _collect(path: str, value: Any, found: dict[str, torch.Tensor], seen: set[int], depth: int) -> None:
    if len(found) >= MOST or depth > DEEPEST or id(value) in seen:
        return
    if isinstance(value, torch.Tensor):
        # A plain local is often a value of this step only: the loss, a batch, a mask.
        if depth and value.is_floating_point() and not isinstance(value, torch.nn.Parameter):
            found.setdefault(path, value)
        return
    seen.add(id(value))
    for name, item in _items(value):
        _collect(f"{path}{name}", item, found, seen, depth + 1)


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.nn.Module | torch.optim.Optimizer | torch.utils.data.DataLoader):
        return
    if isinstance(value, torch.utils.data.Dataset):
        return
    if isinstance(value, dict):
        for key, item in list(value.items())[:MOST]:
            yield f"[{key!r}]", item
    elif isinstance(value, list | tuple) and len(value) <= MOST:
        for index, item in enumerate(value):
            yield f"[{index}]", item
    elif _is_users(type(value)):
        for name, item in list(getattr(value, "__dict__", {}).items()):
            yield f".{name}", item


def _is_users(kind: type) -> bool:
    filename = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return kind.__module__ == "__main__" or bool(filename and not frames.is_library(filename))
