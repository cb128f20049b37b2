"""Decide whether two names mean the same operator, which the last part of a name does not show.

`Tensor.unfold` slides along one dimension, `torch.nn.functional.unfold` takes the blocks of an image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.called.append(str(func))
        return func(*args, **(kwargs or {}))


def means_the_same(function: Callable[..., Any], calls: Iterable[Call]) -> bool:
    """True if `function` takes the arguments of one of `calls` at least, and reaches the same aten
    operators with all that it takes."""
    agreed = False
    for known, args, kwargs in calls:
        expected = _reached(known, args, kwargs)
        found = _reached(function, args, kwargs)
        if expected is None or found is None:
            continue
        if found != expected:
            return False
        agreed = True
    return agreed


def _reached(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[str] | None:
    """The aten operators of a call on the CPU; None where it raises."""
    copies = [a.clone() if isinstance(a, torch.Tensor) and a.layout == torch.strided else a for a in args]
    torch.manual_seed(0)
    with _Recorder() as recorder, torch.no_grad():
        try:
            function(*copies, **kwargs)
        except Exception:
            return None
    return recorder.called
