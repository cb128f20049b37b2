"""Operators that torch_xla hands to the CPU, most of them from inside a kernel: it asks for their inputs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import torch
from torch.utils import _pytree
from torch_xla.core.xla_builder import create_placeholder_tensor

_LIBRARY = torch.library.Library("aten", "IMPL")


class OnCpu(Exception):
    """An operator would execute what is pending, to run on the CPU."""


def install() -> None:
    """Raises OnCpu where torch_xla would hand an operator to the CPU."""

    def refuse(tensors: Sequence[torch.Tensor]) -> NoReturn:
        raise OnCpu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it replaces a kernel of torch's
        _LIBRARY.impl("_to_cpu", refuse, "XLA")


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
