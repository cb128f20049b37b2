"""Random numbers that are the same on XLA as on the CPU, so that two runs can be compared."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from . import counters

_KEY = "XLA"
_SHAPE_ONLY = {torch.ops.aten.bernoulli.p}  # operators that read no value of their tensors
_library = torch.library.Library("aten", "IMPL")  # its kernels last as long as it does


def seed(number: int = 0) -> None:
    """Seed every generator a program may leave unseeded, and keep torch_xla's from being one more."""
    random.seed(number)
    torch.manual_seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    import torch_xla
    import torch_xla.core.xla_model as xm

    torch_xla.manual_seed = lambda seed, device=None: None
    xm.set_rng_state = lambda seed, device=None: None


def draw_on_cpu() -> None:
    """Let every kernel of XLA that draws random numbers take them from the CPU's generator.

    Kernels stand below functionalization, so a draw into a view reaches its base. All other random
    operators are made of these, or run on the CPU anyway.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these kernels replace others
        for name in torch._C._dispatch_get_all_op_names():
            if name.startswith("aten::") and torch._C._dispatch_has_kernel_for_dispatch_key(name, _KEY):
                packet, _, overload = name.removeprefix("aten::").partition(".")
                function = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
                if function is not None and torch.Tag.nondeterministic_seeded in function.tags:
                    _library.impl(function, partial(_drawn, function), _KEY, allow_override=True)


class DrawInOrder(TorchDispatchMode):
    """Lets the CPU draw for a tensor of any strides as for a contiguous one: XLA has no others."""

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **(kwargs or {}))
        return _call_on_cpu(func, args, kwargs or {}, _contiguous)


def _drawn(function: Any, *args: Any, **kwargs: Any) -> Any:
    result = _call_on_cpu(function, args, kwargs, _on_cpu)
    return tree_map(lambda one: one.to("xla") if isinstance(one, torch.Tensor) else one, result)


def _call_on_cpu(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], convert: Callable[[Any, bool], Any]
) -> Any:
    """Call an operator with converted arguments, and copy back what it writes to.

    `convert` is given a value, and whether the operator does not read it.
    """
    parameters = function._schema.arguments
    named = {one.name: value for one, value in zip(parameters, args, strict=False)} | kwargs
    written = {one.name for one in parameters if one.alias_info and one.alias_info.is_write}
    unread = set(named) if function in _SHAPE_ONLY else written
    given = {name: convert(value, name in unread) for name, value in named.items()}
    result = function(*(given[one.name] for one in parameters[: len(args)]), **{k: given[k] for k in kwargs})
    originals = {}
    for name in written & set(named):
        originals[id(given[name])] = named[name]
        if given[name] is not named[name]:
            named[name].copy_(given[name])
    return tree_map(lambda one: originals.get(id(one), one), result)


def _contiguous(value: Any, is_unread: bool) -> Any:
    return value.contiguous() if isinstance(value, torch.Tensor) else value


def _on_cpu(value: Any, is_unread: bool) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type == "xla" else value
    if not isinstance(value, torch.Tensor):
        return value
    if is_unread:
        return torch.empty_like(value, device="cpu")
    with counters.without_counting():
        return value.cpu()
