"""Operators that torch_xla hands to the CPU, most of them from inside a kernel: it asks for their inputs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import torch
from torch.utils import _pytree
from torch_xla.core.xla_builder import create_placeholder_tensor

_LIBRARY = torch.library.Library("aten", "IMPL")


_UPSAMPLING = ("upsample_nearest2d_backward", "upsample_bilinear2d_backward")


class OnCpu(Exception):
    """An operator would execute what is pending, to run on the CPU."""


def install() -> None:
    """Raises OnCpu where torch_xla would hand an operator to the CPU."""

    def refuse(tensors: Sequence[torch.Tensor]) -> NoReturn:
        raise OnCpu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it replaces a kernel of torch's
        _LIBRARY.impl("_to_cpu", refuse, "XLA")


def as_on_tpu(func: Any, args: Any, kwargs: Any) -> torch.Tensor | None:
    """Return what takes the place of a TPU's own kernel, None where a TPU has none. The gradient of an
    upsampling by whole factors is a sum over blocks, which reads and writes as much."""
    if func._opname not in _UPSAMPLING or kwargs:
        return None
    gradient, (height, width), (batch, channels, rows, columns) = args[:3]
    if height % rows or width % columns:
        return None
    blocks = (batch, channels, rows, height // rows, columns, width // columns)
    return gradient.reshape(blocks).sum((3, 5))


def results(func: Any, args: Any, kwargs: Any) -> Any:
    """Placeholders of the shapes that the operator would give; in place, the tensor that is written."""
    if func._schema.is_mutable:
        return kwargs["out"] if "out" in kwargs else args[0]

    def to_meta(one: torch.Tensor) -> torch.Tensor:
        return one.to("meta")

    given, named = _pytree.tree_map_only(torch.Tensor, to_meta, (args, kwargs))
    if named.get("device") is not None:
        named["device"] = "meta"
    return _pytree.tree_map_only(
        torch.Tensor, lambda one: create_placeholder_tensor(one.shape, one.dtype), func(*given, **named)
    )
