"""Sees every operator that is put into a graph, in the forward and the backward pass."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .factories import is_writing
from .frames import Site, innermost
from .recorder import Recorder

_node = torch._C._current_autograd_node
_included = torch._C._SetExcludeDispatchKeyGuard
_sequence = torch._C._autograd._get_sequence_nr


def _holds_xla(values: Iterable[Any]) -> bool:
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.is_xla:
                return True
        elif isinstance(value, list | tuple) and _holds_xla(value):
            return True
    return False


class Watch(TorchDispatchMode):
    """Active as long as its thread runs. `forward` has where each autograd node was made, by its number."""

    def __init__(self, recorder: Recorder, forward: dict[int, Site | None]) -> None:
        super().__init__()
        self.recorder = recorder
        self.forward = forward

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True  # torch.compile goes on as if it were not there

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        tracing = sys.gettrace()
        sys.settrace(None)  # each function that is called here would cost a call of the tracer
        try:
            return self._watch_call(func, args, kwargs or {})
        finally:
            sys.settrace(tracing)

    def _watch_call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        started = time.perf_counter()
        if _holds_xla(args) or (kwargs and _holds_xla(kwargs.values())) or is_writing():
            result = func(*args, **kwargs)
        else:
            # A mode runs below functionalization, which torch_xla takes for its being switched off:
            # what it creates here would have views that do not share memory.
            with _included(torch._C.DispatchKey.Functionalize, False):
                result = func(*args, **kwargs)
            if not _holds_xla((result,)):
                return result
        node = _node()
        if node is None:
            site, through = innermost(), ""
            number = _sequence() - 1
            if number not in self.forward:
                self.forward[number] = site
        else:
            site, through = self.forward.get(node._sequence_nr()), "backward"
        if not isinstance(result, torch.Tensor | int | float | bool) or _holds_xla((result,)):
            self.recorder.log.add(func, site, args, kwargs, result)  # a read adds nothing to the graph
        self.recorder.settle(func, site, started, through)
        return result
