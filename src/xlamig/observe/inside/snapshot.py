"""Snapshot a program's modules, optimizers and files."""

from __future__ import annotations

import io
from typing import Any

import torch

from .fingerprint import fingerprint
from .modules import Modules

_LARGEST = 100_000_000  # parameters that are written to memory once
_LONGEST = 200  # characters of an error
_FINE, _COARSE = 1e-4, 2e-2  # relative errors of a float32 and of a bfloat16 gradient
_BACKGROUND = 1e-6  # of the largest gradient


def parameters_of(optimizer: Any) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def parameter(name: str, tensor: torch.Tensor, change: torch.Tensor | None, held: bool) -> dict[str, Any]:
    return {
        "name": name, "shape": list(tensor.shape), "device": tensor.device.type, "change": change,
        "has_gradient": tensor.grad is not None, "held": held, "requires_grad": tensor.requires_grad,
    }  # fmt: skip


def ties(named: list[tuple[str, torch.Tensor, bool]]) -> list[list[str]]:
    """Groups of names of one parameter."""
    groups: dict[int, list[str]] = {}
    for name, tensor, is_parameter in named:
        if is_parameter:
            groups.setdefault(id(tensor), []).append(name)
    return [sorted(set(names)) for names in groups.values() if len(set(names)) > 1]


def evaluation_outputs(modules: Modules) -> dict[str, Any]:
    """Return the output of each outermost module in evaluation mode for its last training batch."""
    names = {id(module): name for name, module in modules.roots()}
    found: dict[str, Any] = {}
    for key, (module, args, kwargs) in list(modules.inputs.items()):
        if key in names:
            found[names[key]] = _evaluate_module(module, args, kwargs)
    return found


def _evaluate_module(module: torch.nn.Module, args: Any, kwargs: Any) -> list[torch.Tensor] | None:
    modes = [(child, child.training) for child in module.modules()]
    try:
        module.eval()
        torch.manual_seed(0)
        with torch.no_grad():
            return [fingerprint(tensor) for tensor in _tensors(module(*args, **kwargs))]
    except Exception:
        return None
    finally:
        for child, training in modes:
            child.training = training


def _tensors(value: Any, depth: int = 0) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if depth > 3:
        return []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for item in items for tensor in _tensors(item, depth + 1)]


def holds_xla(value: Any, depth: int = 0) -> bool:
    if isinstance(value, torch.Tensor):
        return value.device.type == "xla"
    if isinstance(value, torch.nn.Module):
        return any(tensor.device.type == "xla" for tensor in value.state_dict().values())
    if depth > 5:
        return False
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(holds_xla(item, depth + 1) for item in items)


def round_trip(modules: Modules) -> list[str]:
    """Say what becomes of each module's state when it is saved, on the CPU, and loaded again, unless it
    stays the same: "`Net` differs", "`Net` raises `...`"."""
    found = ((name, _reload(module)) for name, module in modules.roots())
    return [f"`{name}` {problem}" for name, problem in found if problem]


def _reload(module: torch.nn.Module) -> str:
    try:
        state = {k: v.cpu() if isinstance(v, torch.Tensor) else v for k, v in module.state_dict().items()}
        tensors = {key: value for key, value in state.items() if isinstance(value, torch.Tensor)}
        if sum(tensor.numel() for tensor in tensors.values()) > _LARGEST:
            return ""
        file = io.BytesIO()
        torch.save(state, file)
        file.seek(0)
        loaded = torch.load(file, map_location="cpu", weights_only=False)
        module.load_state_dict(loaded)
        after = module.state_dict()
    except Exception as error:
        return f"raises `{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST]}`"
    same = (
        torch.equal(after[key].cpu(), value) or bool(value.isnan().any()) for key, value in tensors.items()
    )
    return "" if all(same) else "differs"


def perturb(parameters: list[torch.Tensor], coarse: bool) -> None:
    """Add as much to the gradients as another device may round differently."""
    gradients = [p.grad for p in parameters if p.grad is not None and not p.grad.is_sparse]
    sizes = [gradient.float().pow(2).mean().sqrt().item() for gradient in gradients if gradient.numel()]
    generator = torch.Generator().manual_seed(1)
    for gradient, size in zip((g for g in gradients if g.numel()), sizes, strict=True):
        error = size * (_COARSE if coarse else _FINE) + max(sizes) * _BACKGROUND
        gradient.add_(torch.randn(gradient.shape, generator=generator).to(gradient) * error)
