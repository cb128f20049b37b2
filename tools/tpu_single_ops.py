"""Operators one at a time on stand-ins: what a trace cannot reach, and gradients."""

from __future__ import annotations

from typing import Any

import torch
from operator_samples import Sample
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from tpu_device import (
    MODE,
    NEEDS_DEVICE,
    READS,
    Untried,
    aten_name,
    compiler,
    execution_mode,
    has,
    on_device,
    state_of,
    text_of,
)


class _Standing(torch.Tensor):
    """Says that it is on "meta", where autograd has a queue, and holds a tensor of torch_tpu: with no
    TPU the autograd engine refuses the device itself."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor, requires_grad: bool = False) -> _Standing:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device="meta",
            requires_grad=requires_grad,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return OneByOne.current.run(func, args, kwargs or {})


class OneByOne(TorchDispatchMode):
    """Every operator runs on the held tensors; what fails is noted and a stand-in of its shape goes on."""

    current: OneByOne

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, None] = {}
        self.errors: dict[str, str] = {}
        self.reads: dict[str, None] = {}
        self.needs_device: dict[str, None] = {}
        OneByOne.current = self

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.run(func, args, kwargs or {})

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        leaves = pytree.tree_leaves((args, kwargs))
        if not any(isinstance(leaf, _Standing) for leaf in leaves) and not _asks_for_device(kwargs):
            return func(*args, **kwargs)
        name = aten_name(func)
        self.seen[name] = None
        if name in ("aten::_local_scalar_dense", "aten::equal"):
            self.reads[name] = None
            if name == "aten::equal":
                return True
            if args[0].dtype == torch.bool:
                return False  # mostly the test of an argument that is wrong
            return 1.0 if args[0].is_floating_point() else 1
        held_args, held_kwargs = pytree.tree_map(_held, (args, kwargs))
        held_kwargs.pop("pin_memory", None)
        try:
            with _disable_current_modes(), execution_mode.set_eager_mode(MODE):
                result = func(*held_args, **held_kwargs)
        except Exception as error:
            text = text_of(error)
            if has(text, READS):
                self.reads[name] = None
            elif has(text, NEEDS_DEVICE):
                self.needs_device[name] = None
            else:
                self.errors.setdefault(name, text)
            return self._stand_in(func, args, kwargs)
        by_held = {id(leaf.held): leaf for leaf in leaves if isinstance(leaf, _Standing)}

        def stand(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            known = by_held.get(id(value))  # in place and out=
            return _Standing(value) if known is None else known

        return pytree.tree_map(stand, result)

    def _stand_in(self, func: Any, args: Any, kwargs: Any) -> Any:
        def on_meta(value: Any) -> Any:
            if isinstance(value, _Standing):
                return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
            if isinstance(value, torch.Tensor):
                return value.to("meta")
            return torch.device("meta") if isinstance(value, torch.device) else value

        def back(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return _Standing(compiler.placeholder(list(value.shape), value.dtype, False))

        with _disable_current_modes():
            meta_args, meta_kwargs = pytree.tree_map(on_meta, (args, kwargs))
            return pytree.tree_map(back, func(*meta_args, **meta_kwargs))


def stand_ins(sample: Sample, gradients: bool | None) -> tuple[Any, Any, Any, list[_Standing]]:
    """The arguments of a call as stand-ins; those whose gradient is asked for are the last item."""
    starts: list[_Standing] = []

    def place(value: Any, wanted: bool = True) -> Any:
        if isinstance(value, torch.device):
            return torch.device("meta")
        if not isinstance(value, torch.Tensor):
            return value
        if value.layout != torch.strided or value.is_quantized or value.is_nested:
            raise Untried("the sample is no dense tensor")
        with execution_mode.set_eager_mode(MODE):
            held = compiler.placeholder(list(value.shape), value.dtype, False).clone()
        can = value.is_floating_point() or value.is_complex()
        made = _Standing(held, can and wanted and gradients is not None and (gradients or not starts))
        if made.requires_grad:
            starts.append(made)
        return made

    args, kwargs = pytree.tree_map(place, (sample.args, on_device(sample.kwargs)))
    state = {}
    if sample.module is not None:
        buffers = {name for name, _ in sample.module.named_buffers()}
        for name, tensor in state_of(sample.module).items():
            held_back, starts[:] = starts[:], []  # parameters always have a gradient
            state[name] = place(tensor, name not in buffers)
            starts[:0] = held_back
    return args, kwargs, state, starts


def called(sample: Sample, args: Any, kwargs: Any, state: Any) -> Any:
    if sample.module is None:
        return sample.function(*args, **kwargs)
    return torch.func.functional_call(sample.module, state, args, kwargs)


def _held(value: Any) -> Any:
    if isinstance(value, _Standing):
        return value.held
    if isinstance(value, torch.device):
        return torch.device("tpu")
    if isinstance(value, torch.Tensor) and value.device.type == "meta":  # made inside a function in C
        return compiler.placeholder(list(value.shape), value.dtype, False)
    if isinstance(value, torch.Tensor) and value.device.type == "cpu" and value.dim():
        return compiler.make_constant_tensor(value)
    return value


def _asks_for_device(kwargs: dict[str, Any]) -> bool:
    device = kwargs.get("device")
    return device is not None and torch.device(device).type in ("tpu", "meta")
