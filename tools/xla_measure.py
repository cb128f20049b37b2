"""Runs one call on the CPU and on torch_xla and says how the second differs from the first.

Counters named after an operator (`aten::median`) count its CPU fallbacks. Needs torch_xla and
PJRT_DEVICE=CPU; every group of calls should have a process of its own, because a broken lowering can
spoil or kill the process it runs in.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import torch
import torch_xla
import torch_xla.debug.metrics as metrics
from operator_samples import Sample
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

# They read a value back on purpose: a wait for the device, not a missing lowering.
HOST_READS = frozenset({"aten::_local_scalar_dense", "aten::item", "aten::equal", "aten::is_nonzero"})
TOLERANCE = 2e-3
GRADIENT_TOLERANCE = 5e-3
# Their rounding depends on where a compiler puts it; only what is plainly another result counts.
COARSE = (torch.bfloat16, torch.float16)
COARSE_TOLERANCE = 0.1
COARSE_VALUES = 4


class NotOnCpu(Exception):
    """The call does not even run on the CPU, so nothing can be compared."""


def start() -> None:
    """The runtime's own first transfers and compilations, before anything is counted."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.zeros(1, device=torch_xla.device())
    torch_xla.sync(wait=True)


def measure(sample: Sample, gradient: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the behaviour of `sample` on torch_xla: ("forward", outcome), then ("", {}) and ("backward",
    outcome) if there is a gradient to try; each with `status`, `aten`, `read`, `error`. Raises NotOnCpu."""
    expected, random = _on_cpu(sample)
    forward = _forward(sample, expected, random)
    yield "forward", forward
    if gradient and has_gradient(sample) and forward["status"] in ("native", "fallback", "wrong-result"):
        yield "", {}
        backward = _backward(sample, random, set(forward.get("aten", ())))
        if backward is not None:
            yield "backward", backward


def has_gradient(sample: Sample) -> bool:
    tensors = [t for t in _tensors((sample.args, sample.kwargs)) if t.is_floating_point() or t.is_complex()]
    return bool(tensors) or bool(sample.module and any(True for _ in sample.module.parameters()))


# -------------------------------------------------------------------------------- forward


class _Seeded(TorchDispatchMode):
    """Notices operators that draw random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.found |= torch.Tag.nondeterministic_seeded in func.tags
        return func(*args, **(kwargs or {}))


def _on_cpu(sample: Sample) -> tuple[Any, bool]:
    """The result, and whether it is drawn by lot: then only shapes and types can be compared."""
    results = []
    with _Seeded() as seeded:
        for seed in (0, 1):
            torch.manual_seed(seed)
            try:
                with torch.no_grad():
                    results.append(_call(sample, torch.device("cpu")))
            except Exception as error:
                raise NotOnCpu(_told(error)) from None
    # Dropout in evaluation does not draw; a function that seeds itself gives the same twice.
    return results[0], seeded.found or _difference(results[0], results[1], TOLERANCE, False) is not None


def _forward(sample: Sample, expected: Any, random: bool) -> dict[str, Any]:
    device = torch_xla.device()
    try:
        with torch.no_grad():
            prepared = _move(sample, device)
            torch_xla.sync(wait=True)
            metrics.clear_all()
            result = _invoke(sample, *prepared)
            reads = _transfers()
        torch_xla.sync(wait=True)
        fallbacks = _fallbacks()
        # In place on an argument counts as a result too.
        difference = (
            None
            if _has_nan((sample.args, sample.kwargs))
            else _difference(expected, result, TOLERANCE, random)
        )
    except Exception as error:
        return _told_as("error", _fallbacks(), error=_told(error))
    aten = sorted(fallbacks - HOST_READS)
    status = "wrong-result" if difference else "fallback" if aten else "native"
    read = bool(fallbacks & HOST_READS) or (reads > 0 and not aten)
    return _told_as(status, aten, read=read, error=difference or "")


def _told_as(status: str, aten: Iterable[str], *, read: bool = False, error: str = "") -> dict[str, Any]:
    told: dict[str, Any] = {"status": status}
    if names := sorted(set(aten) - HOST_READS):
        told["aten"] = names
    if read:
        told["read"] = True
    if error:
        told["error"] = error
    return told


# ------------------------------------------------------------------------------- backward


def _backward(sample: Sample, random: bool, known: set[str]) -> dict[str, Any] | None:
    """None where the CPU has no gradient either. What the forward pass needs for a gradient, and not
    without one (`known`), counts too."""
    try:
        torch.manual_seed(0)
        expected, _ = _gradients(sample, torch.device("cpu"))
    except Exception:
        return None
    if expected is None:
        return None
    try:
        metrics.clear_all()
        found, forward = _gradients(sample, torch_xla.device())
        torch_xla.sync(wait=True)
        difference = _difference(expected, found, GRADIENT_TOLERANCE, random)
    except Exception as error:
        return _told_as("error", _fallbacks(), error=_told(error))
    aten = (_fallbacks() | (forward - known)) - HOST_READS
    status = "wrong-result" if difference else "fallback" if aten else "native"
    return _told_as(status, aten, error=difference or "")


def _gradients(sample: Sample, device: torch.device) -> tuple[list[Any] | None, set[str]]:
    """The gradients, and the fallbacks of the forward pass before them."""
    function, args, kwargs = _move(sample, device)

    def leaf(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            return value.detach().requires_grad_()
        return value

    args, kwargs = pytree.tree_map(leaf, (args, kwargs))
    leaves = [t for t in _tensors((args, kwargs)) if t.requires_grad]
    if sample.module is not None:
        leaves += [p for p in function.parameters() if p.requires_grad]
    # An operator in place may not write to a leaf.
    args, kwargs = pytree.tree_map(
        lambda v: v * 1 if isinstance(v, torch.Tensor) and v.requires_grad else v, (args, kwargs)
    )
    outputs = [t for t in _tensors(function(*args, **kwargs)) if t.requires_grad and t.grad_fn is not None]
    if not outputs or not leaves:
        return None, set()
    forward: set[str] = set()
    if device.type == "xla":
        torch_xla.sync(wait=True)
        forward = _fallbacks()
        metrics.clear_all()  # of the backward pass alone
    weights = [_ramp(output).to(output.device) for output in outputs]
    return list(torch.autograd.grad(outputs, leaves, weights, allow_unused=True)), forward


def _ramp(like: torch.Tensor) -> torch.Tensor:
    """Weights that differ per element, so that gradients do not cancel."""
    ramp = torch.linspace(0.5, 1.5, max(1, math.prod(like.shape)))[: math.prod(like.shape)]
    return ramp.reshape(like.shape).to(like.dtype)


# ---------------------------------------------------------------------------------- calls


def _call(sample: Sample, device: torch.device) -> Any:
    return _invoke(sample, *_move(sample, device))


def _move(sample: Sample, device: torch.device) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    def moved(value: Any) -> Any:
        if isinstance(value, torch.device | str):
            return device if str(value) == "cpu" else value
        if isinstance(value, torch.Tensor) and value.layout == torch.strided:
            return value.detach().clone() if device.type == "cpu" else value.detach().to(device)
        return copy.deepcopy(value) if isinstance(value, torch.Generator) else value

    args, kwargs = pytree.tree_map(moved, (sample.args, sample.kwargs))
    function: Any = sample.function
    if sample.module is not None:
        function = copy.deepcopy(sample.module).to(device)
    return function, args, kwargs


def _invoke(sample: Sample, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


# ------------------------------------------------------------------------------- counters


def _fallbacks() -> set[str]:
    return {
        n
        for n in metrics.counter_names()
        if "::" in n and not n.startswith("xla::") and metrics.counter_value(n)
    }


def _transfers() -> int:
    data = metrics.metric_data("TransferFromDeviceTime")
    return data[0] if data else 0


# ----------------------------------------------------------------------------- comparison


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _has_nan(tree: Any) -> bool:
    """torch_xla's CPU client drops NaN in minima and maxima, a flag of that client and not of a TPU."""
    return any(
        t.layout == torch.strided and t.is_floating_point() and bool(t.isnan().any()) for t in _tensors(tree)
    )


def _difference(expected: Any, found: Any, tolerance: float, random: bool) -> str | None:
    left, right = pytree.tree_leaves(expected), pytree.tree_leaves(found)
    if len(left) != len(right):
        return f"{len(right)} results instead of {len(left)}"
    return next(
        (d for a, b in zip(left, right, strict=True) if (d := _differs(a, b, tolerance, random))), None
    )


def _differs(a: Any, b: Any, tolerance: float, random: bool) -> str | None:
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        plain = isinstance(a, bool | int | float) and isinstance(b, bool | int | float)
        return f"{b} instead of {a}" if plain and not random and a != b and a == a else None
    if a.shape != b.shape:
        return f"shape {tuple(b.shape)} instead of {tuple(a.shape)}"
    if a.dtype != b.dtype:
        return f"{_word(b.dtype)} instead of {_word(a.dtype)}"
    if random or a.layout != torch.strided:
        return None
    b = b.detach().cpu().resolve_conj().resolve_neg()
    a = a.detach().resolve_conj().resolve_neg()
    if a.shape != b.shape:  # what the device holds may be something else than it says
        return f"shape {tuple(b.shape)} instead of {tuple(a.shape)}"
    tolerance = COARSE_TOLERANCE if a.dtype in COARSE else tolerance
    close = torch.isclose(_wide(a), _wide(b), rtol=tolerance, atol=tolerance, equal_nan=True)
    wrong = int((~close & ~a.isnan()).sum())  # NaN: see _has_nan
    if a.dtype in COARSE and (a.numel() < COARSE_VALUES or 2 * wrong <= a.numel()):
        return None
    return f"{wrong} of {a.numel()} values differ" if wrong else None


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _told(error: BaseException) -> str:
    text = " ".join(str(error).split())
    for noise in (" Exception raised from", " Status: ", " *** Begin stack trace", " This could be because"):
        text = text.partition(noise)[0]
    return f"{type(error).__name__}: {text}"[:400]
