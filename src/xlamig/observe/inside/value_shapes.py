"""Operators whose results are as long as values decide, for runs in which there are no values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

MASKS = (torch.bool, torch.uint8)


def depends_on_values(func: Any, args: Any, kwargs: Any) -> bool:
    """Return whether the values of its arguments decide the size of the operator's result."""
    if func._opname == "index":
        return any(isinstance(one, torch.Tensor) and one.dtype in MASKS for one in args[1])
    return torch.Tag.dynamic_output_shape in func.tags and kwargs.get("output_size") is None


def half(name: str, args: Any, make: Callable[[Sequence[int], torch.dtype], Any]) -> Any:
    """Return what the operator gives if half of the values are chosen; `make` creates a tensor."""
    given = args[0]
    some = max(1, given.numel() // 2)
    if name == "index":
        place, mask = next((p, one) for p, one in enumerate(args[1]) if one is not None)
        shape = (*given.shape[:place], max(1, mask.numel() // 2), *given.shape[place + mask.dim() :])
        return make(shape, given.dtype)
    if name == "nonzero":
        return make((some, given.dim()), torch.int64)
    if "unique" in name:
        return make((some,), given.dtype), make(given.shape, torch.int64), make((some,), torch.int64)
    return make((some,), given.dtype if name == "masked_select" else torch.int64)
