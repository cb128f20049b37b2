"""Operators whose results are as long as values decide, for runs in which there are no values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

MASKS = (torch.bool, torch.uint8)
_INDEXED = ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put")
Make = Callable[[Sequence[int], torch.dtype], Any]


def mask(func: Any, args: Any) -> torch.Tensor | None:
    """Return the mask among the indices of an operator that reads or writes through one."""
    if func._opname not in _INDEXED:
        return None
    return next((one for one in args[1] if _is_mask(one)), None)


def _is_mask(one: Any) -> bool:
    return isinstance(one, torch.Tensor) and one.dtype in MASKS


def without_masks(args: Any, make: Make) -> tuple[Any, ...]:
    """Return its arguments with the positions that half of each mask would choose in place of the mask."""
    indices: list[Any] = []
    for one in args[1]:
        if _is_mask(one):
            indices += [make((max(1, one.numel() // 2),), torch.int64) for _ in one.shape]
        else:
            indices.append(one)
    return (args[0], indices, *args[2:])


def depends_on_values(func: Any, args: Any, kwargs: Any) -> bool:
    """Return whether the values of its arguments decide the size of the operator's result."""
    if func._opname == "index":
        return mask(func, args) is not None
    return torch.Tag.dynamic_output_shape in func.tags and kwargs.get("output_size") is None


def half(name: str, args: Any, make: Make) -> Any:
    """Return what the operator gives if half of the values are chosen; `make` creates a tensor."""
    given = args[0]
    some = max(1, given.numel() // 2)
    if name == "nonzero":
        return make((some, given.dim()), torch.int64)
    if "unique" in name:
        return make((some,), given.dtype), make(given.shape, torch.int64), make((some,), torch.int64)
    return make((some,), given.dtype if name == "masked_select" else torch.int64)
