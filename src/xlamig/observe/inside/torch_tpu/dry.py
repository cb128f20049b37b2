"""Executes every operator on torch_tpu's own kernels, which build a graph and need no TPU."""

from __future__ import annotations

import sys
from typing import Any

import torch
import torch_tpu  # noqa: F401  its kernels
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch_tpu import _loader
from torch_tpu._internal import execution_mode
from torch_tpu._internal.compile import tpu_torch_compile

from xlamig.observe.inside.value_shapes import depends_on_values, half, without_masks

from .log import Log

_loader._init_device("tpu")
_BUILD = execution_mode.execution_mode_impl._EagerMode.INTERNAL_COMPILE_FX_GRAPH
_ON_TPU = ("tpu", "meta", "cuda")


class OnTpu(torch.Tensor):
    """Says `meta`, because autograd refuses a device without hardware, and holds a tensor of torch_tpu."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor, requires_grad: bool = False) -> OnTpu:
        made = torch.Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype,
            device="meta", requires_grad=requires_grad,
        )  # fmt: skip
        made.held = held
        return made

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        return f"tensor(..., size={tuple(self.shape)}, device='tpu')"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _current().run(func, args, kwargs or {})


def _current() -> DryRun:
    assert DryRun.current is not None
    return DryRun.current


class DryRun(TorchDispatchMode):
    """An operator that has no kernel is noted, and gives a tensor of the right shape: one run finds all."""

    current: DryRun | None = None

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log = log
        if DryRun.current is None:
            register_optimizer_step_post_hook(log.stepped)
        DryRun.current = self

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.run(func, args, kwargs or {})

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        flat = _pytree.tree_leaves((args, kwargs))
        asked = torch.device(kwargs["device"]).type if kwargs.get("device") is not None else None
        if not any(isinstance(one, OnTpu) for one in flat) and asked not in _ON_TPU:
            return func(*args, **kwargs)  # work of the host
        name = func._opname
        self.log.operators[str(func)] += 1
        if name in ("_local_scalar_dense", "equal"):
            self._note("host-read", func)
            return _number(args[0]) if name == "_local_scalar_dense" else True
        if (name == "_to_copy" and asked == "cpu") or (name == "copy_" and not isinstance(args[0], OnTpu)):
            self._note("host-read", func)
            return torch.zeros(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        if name == "_to_copy" and not isinstance(args[0], OnTpu):
            return place(args[0], kwargs.get("dtype"))
        if depends_on_values(func, args, kwargs):
            self._note("dynamic-shape", func)
            if name != "index":
                return half(name, args, _empty)
            args = without_masks(args, _empty)
            flat = _pytree.tree_leaves((args, kwargs))
        if torch.Tag.nondeterministic_seeded in func.tags and "scaled_dot_product" not in name:
            return self._shape_result(func, args, kwargs)  # random numbers need a device
        return self._execute_kernel(func, args, kwargs, flat)

    def _execute_kernel(self, func: Any, args: Any, kwargs: Any, flat: list[Any]) -> Any:
        bare, named = _pytree.tree_map(_bare, (args, kwargs))
        if named.get("device") is not None:
            named["device"] = torch.device("tpu")
        named.pop("pin_memory", None)
        try:
            with _disable_current_modes(), execution_mode.set_eager_mode(_BUILD):
                result = func(*bare, **named)
        except (RuntimeError, NotImplementedError) as error:
            self._note(_kind(str(error)), func, str(error))
            return self._shape_result(func, args, kwargs)
        known = {id(one.held): one for one in flat if isinstance(one, OnTpu)}

        def wrapped(one: torch.Tensor) -> OnTpu:
            return known[id(one)] if id(one) in known else OnTpu(one)

        return _pytree.tree_map_only(torch.Tensor, wrapped, result)

    def _shape_result(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Return a tensor of the operator's shape, without values. In place, the tensor is its own result."""

        def to_meta(one: torch.Tensor) -> torch.Tensor:
            return torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device="meta")

        with _disable_current_modes():
            meta, named = _pytree.tree_map_only(torch.Tensor, to_meta, (args, kwargs))
            if named.get("device") is not None:
                named["device"] = "meta"
            result = func(*meta, **named)
        if func._opname.endswith("_") and isinstance(args[0], OnTpu):
            return args[0]
        return _pytree.tree_map_only(torch.Tensor, lambda one: _empty(one.shape, one.dtype), result)

    def _note(self, kind: str, func: Any, message: str = "") -> None:
        self.log.note(kind, f"aten::{func._opname}", message, sys._getframe(2))


def place(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> OnTpu:
    """A copy on the device."""
    return OnTpu(_empty(tensor.shape, dtype or tensor.dtype).held)


def _empty(shape: Any, dtype: torch.dtype) -> OnTpu:
    with _disable_current_modes(), execution_mode.set_eager_mode(_BUILD):
        return OnTpu(tpu_torch_compile.placeholder(list(shape), dtype, False).clone())


def _bare(one: Any) -> Any:
    if isinstance(one, OnTpu):
        return one.held
    if isinstance(one, torch.Tensor) and one.device.type == "cpu":
        return one if one.dim() == 0 else tpu_torch_compile.make_constant_tensor(one)
    return torch.device("tpu") if isinstance(one, torch.device) and one.type in _ON_TPU else one


def _kind(message: str) -> str:
    if "not implemented for TPU" in message:
        return "unsupported-operator"
    return "host-read" if "EventSnapshot" in message or "Materialize" in message else "refused"


def _number(tensor: torch.Tensor) -> Any:
    return False if tensor.dtype is torch.bool else 1.0 if tensor.is_floating_point() else 1
