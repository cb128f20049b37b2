"""Answers reads of values that were never computed, and names the line behind each operator of a graph."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
import torch_xla
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch_xla.core.xla_builder import create_placeholder_tensor

from xlamig.observe.inside.frames import Site, innermost
from xlamig.observe.inside.mode import _holds_xla, _included, _node, _sequence
from xlamig.observe.inside.value_shapes import depends_on_values, half, mask, without_masks

from . import fallbacks

_C = torch_xla._XLAC
_aten = torch.ops.aten
_TRUE = {
    "all",
    "_is_all_true",
    "isfinite",
    "eq",
    "ge",
    "le",
    "equal",
    "allclose",
}  # answers that let a program go on


class StandIns(TorchDispatchMode):
    """`scope` names a site in the graph; `read` and `fall_back` receive the answer, and its place."""

    def __init__(
        self,
        scope: Callable[[Site | None, bool], str],
        read: Callable[[Site | None, torch.Tensor], bool],
        fall_back: Callable[[Site | None, str], None],
        forward: dict[int, Site | None],
    ) -> None:
        super().__init__()
        self.scope, self.read, self.fall_back, self.forward = scope, read, fall_back, forward
        self.makers: dict[int, str] = {}  # the operator behind each boolean, by torch_xla's number

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not (_holds_xla(args) or (kwargs and _holds_xla(kwargs.values()))):
            with _included(torch._C.DispatchKey.Functionalize, False):
                return self._run(func, args, kwargs, _site(self.forward))
        site = _site(self.forward)
        if (chosen := mask(func, args)) is not None:
            forgotten = self.read(site[0], chosen)
            args = without_masks(args, create_placeholder_tensor)
            if forgotten and not func._schema.is_mutable:  # what it is given still has its graph
                args = _without_values(args)
        answered, answer = self._answer(func, args, kwargs, site[0])
        return answer if answered else self._run(func, args, kwargs, site)

    def _run(self, func: Any, args: Any, kwargs: Any, site: tuple[Site | None, bool]) -> Any:
        pushed = _C.profiler.scope_pusher(self.scope(*site))
        try:
            result = func(*args, **kwargs)
        except fallbacks.OnCpu:
            if (computed := fallbacks.as_on_tpu(func, args, kwargs)) is not None:
                return computed
            self.fall_back(site[0], f"aten::{func._opname}")
            return fallbacks.results(func, args, kwargs)
        finally:
            del pushed
        if (
            isinstance(result, torch.Tensor)
            and result.is_xla
            and result.dtype is torch.bool
            and not result.dim()
        ):
            self.makers[_C._xla_get_tensor_id(result)] = func._opname
        return result

    def _answer(self, func: Any, args: Any, kwargs: Any, site: Site | None) -> tuple[bool, Any]:
        """(whether it stands in for the operator, what for)."""
        name = func._opname
        if name == "_local_scalar_dense":
            self.read(site, args[0])
            return True, self._number(args[0])
        if name == "equal":
            self.read(site, args[0])
            return True, True
        if name == "_to_copy" and _is_cpu(kwargs.get("device")):
            self.read(site, args[0])
            return True, torch.zeros(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        if name == "copy_" and not args[0].is_xla:
            self.read(site, args[1])
            return True, args[0].zero_()
        if depends_on_values(func, args, kwargs):
            self.read(site, args[0])
            return True, half(name, args, create_placeholder_tensor)
        if not _has(func, "XLA") and _has(func, "CompositeImplicitAutograd"):
            with self:  # what it is made of may be native
                return True, func.decompose(*args, **kwargs)
        return False, None

    def _number(self, tensor: torch.Tensor) -> Any:
        if tensor.dtype is torch.bool:
            return self.makers.get(_C._xla_get_tensor_id(tensor)) in _TRUE
        return tensor.new_ones((), device="cpu").item()


def _site(forward: dict[int, Site | None]) -> tuple[Site | None, bool]:
    """The line of the operator that runs, and whether it runs in the backward pass of that line."""
    node = _node()
    if node is not None:
        return forward.get(node._sequence_nr()), True
    site = innermost(sys._getframe(2))
    forward.setdefault(_sequence() - 1, site)
    return site, False


def _without_values(args: Any) -> Any:
    def without_value(one: torch.Tensor) -> torch.Tensor:
        return create_placeholder_tensor(one.shape, one.dtype) if one.is_xla else one

    return _pytree.tree_map_only(torch.Tensor, without_value, args)


def _is_cpu(device: Any) -> bool:
    return device is not None and torch.device(device).type == "cpu"


def _has(func: Any, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key))
