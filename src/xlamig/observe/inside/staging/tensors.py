"""The tensors that are alive: which hold a pending graph, what each is for, and how it loses its value."""

from __future__ import annotations

import gc
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch_xla
from torch_xla.core.xla_builder import create_placeholder_tensor

from xlamig.observe.inside.mode import _included

_C = torch_xla._XLAC


class Use(NamedTuple):
    """The role of a tensor; `name` is a parameter's, as in a state dict."""

    role: str
    name: str


def alive() -> list[torch.Tensor]:
    """Every XLA tensor that Python can reach, gradients included."""
    found: dict[int, torch.Tensor] = {}
    for one in gc.get_objects():
        # A dispatch mode leaves Python objects for what stands inside the program's own tensors.
        if issubclass(type(one), torch.Tensor) and one.is_xla and torch._is_functional_tensor(one):
            found[id(one)] = one
            if one.is_leaf and one.grad is not None and one.grad.is_xla:
                found[id(one.grad)] = one.grad
    return list(found.values())


def bases(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the tensors that these are views of: torch_xla keeps and computes them too, such as the product
    whose transpose a gradient is. A dispatch mode leaves Python objects for what stands inside the program's
    tensors."""
    known = {_C._xla_get_tensor_id(one) for one in tensors}
    found = {}
    for one in gc.get_objects():
        if issubclass(type(one), torch.Tensor) and one.is_xla and not torch._is_functional_tensor(one):
            number = _C._xla_get_tensor_id(one)
            if number not in known:
                one._fix_weakref()  # C++ held it alone
                found[number] = one
    return list(found.values())


def pending(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the tensors whose value is pending, in the order of their assignment: a step that does the same
    has its outputs in the same order."""
    wanted = [one for one, is_pending in zip(tensors, _wanted_flags(tensors), strict=True) if is_pending]
    return sorted(wanted, key=_C._xla_get_tensor_id)


def _wanted_flags(tensors: Sequence[torch.Tensor]) -> Sequence[bool]:
    return _C._check_tensor_need_materialization(list(tensors)) if tensors else ()


def numbers(known: Container[int]) -> dict[int, int]:
    """The identity of each tensor in `known` by the number that torch_xla gives its value."""
    found = [one for one in alive() if id(one) in known]
    waiting = {id(one) for one in pending(found)}
    return {_C._xla_get_tensor_id(one): id(one) for one in found if id(one) not in waiting}


def without_gradient(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the pending tensors that no backward pass computes or needs."""
    gradients = {id(one.grad) for one in tensors if one.is_leaf}
    return [one for one in pending(tensors) if not one.requires_grad and id(one) not in gradients]


def forget_values(tensors: Iterable[torch.Tensor]) -> dict[int, int]:
    """Gives each tensor a placeholder in place of its value, as if its graph had been executed.

    Returns:
        The identity of each tensor, by the number torch_xla gives its placeholder.
    """
    held = {}
    with torch.no_grad(), _included(torch._C.DispatchKey.Functionalize, False):  # as outside of a mode
        for one in tensors:
            placeholder = create_placeholder_tensor(one.shape, one.dtype)
            held[_C._xla_get_tensor_id(placeholder)] = id(one)
            one.data = placeholder
    return held


def uses() -> dict[int, Use]:
    """Return the roles of parameters, buffers and optimizer state, by identity."""
    modules = [one for one in gc.get_objects() if issubclass(type(one), torch.nn.Module)]
    inner = {id(child) for module in modules for child in module.children()}
    found: dict[int, Use] = {}
    for module in sorted(modules, key=lambda one: id(one) in inner):  # roots first: they know whole names
        for name, parameter in module.named_parameters():
            found.setdefault(id(parameter), Use("parameter", name))
        for name, buffer in module.named_buffers():
            found.setdefault(id(buffer), Use("buffer", name))
    for optimizer in gc.get_objects():
        if issubclass(type(optimizer), torch.optim.Optimizer):
            found |= dict(_optimizer(optimizer, found))
    return found


def _optimizer(optimizer: Any, found: dict[int, Use]) -> Iterator[tuple[int, Use]]:
    for parameter, state in optimizer.state.items():
        name = found[id(parameter)].name if id(parameter) in found else "parameter"
        if id(parameter) not in found:
            yield id(parameter), Use("parameter", name)
        for key, value in state.items() if isinstance(state, dict) else ():
            if isinstance(value, torch.Tensor):
                yield id(value), Use("optimizer", f"{name} {key}")
