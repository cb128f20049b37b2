"""Random numbers that are the same on XLA as on the CPU, so that two runs can be compared."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch
import torch_xla
from torch.utils._python_dispatch import TorchDispatchMode

_included = torch._C._SetExcludeDispatchKeyGuard
_FROM_VALUES = {"bernoulli", "multinomial", "normal", "poisson", "binomial"}


def seed(number: int = 0) -> None:
    """Seed every generator a program may leave unseeded, and keep torch_xla's from being one more."""
    random.seed(number)
    torch.manual_seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    import torch_xla.core.xla_model as xm

    torch_xla.manual_seed = lambda seed, device=None: None
    xm.set_rng_state = lambda seed, device=None: None


class DrawOnCpu(TorchDispatchMode):
    """Draws what is random on XLA from the CPU's generator, in the same order, and copies it over."""

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **kwargs)
        device = _xla_device((*args, *kwargs.values()))
        if device is None or isinstance(kwargs.get("generator"), torch.Generator):
            return func(*args, **kwargs)
        try:
            return _drawn(func, args, kwargs, device)
        except RuntimeError:  # a view that cannot be written to below functionalization
            return func(*args, **kwargs)


def _xla_device(values: Any) -> torch.device | None:
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_xla:
            return value.device
        if isinstance(value, torch.device) and value.type == "xla":
            return value
    return None


def _drawn(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], device: torch.device) -> Any:
    name = func.name().partition("::")[2].partition(".")[0]
    needs_values = name in _FROM_VALUES or name.startswith(("rrelu", "native_dropout", "_scaled"))

    def on_cpu(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "xla" else value
        if not isinstance(value, torch.Tensor):
            return value
        return value.cpu() if needs_values else torch.empty_like(value, device="cpu")

    given = [on_cpu(value) for value in args]
    result = func(*given, **{key: on_cpu(value) for key, value in kwargs.items()})
    # A mode runs below functionalization, without which torch_xla creates tensors that have no views.
    with _included(torch._C.DispatchKey.Functionalize, False):
        if func._schema.is_mutable and result is given[0]:
            return args[0].copy_(result)
        if isinstance(result, torch.Tensor):
            return result.to(device)
        return type(result)(one.to(device) if isinstance(one, torch.Tensor) else one for one in result)
