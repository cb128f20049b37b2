"""Judge one call on torch_xla apart from the tool that makes the table: `check_operators.py` is there to find
its mistakes, so nothing of `xla_measure.py` is used."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Set
from typing import Any

import torch
import torch_xla
import torch_xla.debug.metrics as metrics
from operator_samples import Sample
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

CLOSE = {torch.bfloat16: 0.1, torch.float16: 0.1}
OTHERWISE = 2e-3
READS = ("aten::_local_scalar_dense", "aten::item", "aten::equal", "aten::is_nonzero")

Found = dict[str, Any]  # status, aten, why


class Unusable(Exception):
    """The CPU refuses the call as well."""


def judge(sample: Sample, seed: int, gradient: bool) -> dict[str, Found]:
    """`forward`, and `backward` where the CPU has a gradient."""
    with torch.no_grad():
        try:
            torch.manual_seed(seed)
            with _Lots() as lots:
                expected = _on_cpu(sample)
            by_lot = lots.drawn or _unlike(expected, _on_cpu(sample), values=True) != ""
        except Exception as error:
            raise Unusable(str(error)) from None
    found = {"forward": _observed(lambda: _results(sample), expected, by_lot or _has_nan(sample))}
    if gradient and not by_lot and found["forward"]["status"] in ("native", "fallback"):
        try:
            slopes = _slopes(sample, torch.device("cpu"), seed)
        except Exception:
            slopes = []
        if slopes:
            known = set(found["forward"]["aten"])
            found["backward"] = _observed(
                lambda: _slopes(sample, torch_xla.device(), seed, known), slopes, _has_nan(sample)
            )
    return found


def _observed(run: Callable[[], Any], expected: Any, shapes_only: bool) -> Found:
    """Falls back if torch_xla counted a call of the CPU; wrong if the result is not the CPU's."""
    torch_xla.sync(wait=True)
    metrics.clear_counters()
    try:
        result = run()
        torch_xla.sync(wait=True)
        aten = _fallbacks()
        why = _unlike(expected, result, values=not shapes_only)
    except Exception as error:
        return {"status": "error", "aten": [], "why": f"{type(error).__name__}: {error}"[:200]}
    return {"status": "wrong-result" if why else "fallback" if aten else "native", "aten": aten, "why": why}


def _fallbacks() -> list[str]:
    names = (name for name in metrics.counter_names() if name.startswith(("aten::", "torchvision::")))
    return sorted(name for name in names if name not in READS)


class _Lots(TorchDispatchMode):
    """Return whether an operator draws random numbers: what it gives cannot be compared."""

    drawn = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.drawn |= torch.Tag.nondeterministic_seeded in func.tags
        return func(*args, **(kwargs or {}))


def _on_cpu(sample: Sample) -> list[Any]:
    function, args, kwargs = _placed(sample, torch.device("cpu"))
    return _plain(function(*args, **kwargs))


def _results(sample: Sample) -> list[Any]:
    with torch.no_grad():
        function, args, kwargs = _placed(sample, torch_xla.device())
        return _plain(function(*args, **kwargs))


def _slopes(sample: Sample, device: torch.device, seed: int, known: Set[str] | None = None) -> list[Any]:
    """The gradients. With `known`, the fallbacks without a gradient, only others are left on the counters
    of the forward pass."""
    function, args, kwargs = _placed(sample, device)
    wanted = []

    def follow(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        wanted.append(value.requires_grad_())
        return value.clone()  # a leaf may not be written to

    args, kwargs = pytree.tree_map(follow, (args, kwargs))
    if isinstance(function, torch.nn.Module):
        wanted += [p for p in function.parameters() if p.requires_grad]
    results = [
        r for r in _plain(function(*args, **kwargs)) if isinstance(r, torch.Tensor) and r.requires_grad
    ]
    if not results or not wanted:
        return []
    if known is not None:
        torch_xla.sync(wait=True)
        if not set(_fallbacks()) - known:
            metrics.clear_counters()
    lot = torch.Generator().manual_seed(seed)
    weights = [torch.randn(r.shape, generator=lot).to(r.dtype).to(device) for r in results]
    found = torch.autograd.grad(results, wanted, weights, allow_unused=True)
    return [slope for slope in found if slope is not None]


def _placed(sample: Sample, device: torch.device) -> tuple[Any, Any, Any]:
    def place(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.layout == torch.strided:
            return value.detach().clone().to(device)
        if isinstance(value, torch.Generator):
            return copy.deepcopy(value)
        named = isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu")
        return device if named else value

    args, kwargs = pytree.tree_map(place, (sample.args, sample.kwargs))
    return (copy.deepcopy(sample.module).to(device) if sample.module else sample.function), args, kwargs


def _plain(result: Any) -> list[Any]:
    return list(pytree.tree_leaves(result))


def _has_nan(sample: Sample) -> bool:
    """The CPU client drops NaN in minima and maxima, which a TPU does not."""
    return any(t.is_floating_point() and bool(t.isnan().any()) for t in _strided(sample))


def _strided(sample: Sample) -> Iterator[torch.Tensor]:
    leaves = pytree.tree_leaves((sample.args, sample.kwargs))
    return (t for t in leaves if isinstance(t, torch.Tensor) and t.layout == torch.strided)


def _unlike(expected: list[Any], found: list[Any], *, values: bool) -> str:
    """How the results differ, or ""."""
    if len(expected) != len(found):
        return f"{len(found)} results instead of {len(expected)}"
    for left, right in zip(expected, found, strict=True):
        if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
            if (left.shape, left.dtype) != (right.shape, right.dtype):
                return f"{right.dtype}{list(right.shape)} instead of {left.dtype}{list(left.shape)}"
            comparable = values and left.layout == torch.strided
            if comparable and (why := _apart(left.detach(), right.detach().cpu())):
                return why
        elif values and isinstance(left, bool | int | float) and left != right and left == left:
            return f"{right} instead of {left}"
    return ""


def _apart(left: torch.Tensor, right: torch.Tensor) -> str:
    if left.shape != right.shape:
        return f"values of shape {list(right.shape)} instead of {list(left.shape)}"
    wide = torch.complex128 if left.is_complex() else torch.float64
    a, b = left.resolve_conj().resolve_neg().to(wide), right.resolve_conj().resolve_neg().to(wide)
    limit = CLOSE.get(left.dtype, OTHERWISE)
    usual = a.isfinite()
    far = ((a - b).abs() > limit * (1 + a.abs())) & usual
    far |= (a != b) & ~usual & ~a.isnan()
    if left.dtype in CLOSE and 2 * int(far.sum()) <= max(2, far.numel()):  # rounding before a step
        return ""
    return f"{int(far.sum())} of {far.numel()} values differ" if bool(far.any()) else ""
