"""Sees every operator that is put into a graph, in the forward and the backward pass."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .frames import Site, innermost
from .recorder import Recorder

_node = torch._C._current_autograd_node
_included = torch._C._SetExcludeDispatchKeyGuard
_sequence = torch._C._autograd._get_sequence_nr
_TAGS = {torch.Tag.data_dependent_output: "reads", torch.Tag.dynamic_output_shape: "sizes"}


def _holds_xla(values: Iterable[Any]) -> bool:
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.device.type == "xla":
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
        self.tags: dict[Any, str] = {}

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True  # torch.compile goes on as if it were not there

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        started = time.perf_counter()
        if _holds_xla(args) or _holds_xla(tuple(kwargs.values())):
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
        recorder = self.recorder
        recorder.note(func, site, args, kwargs)
        tags = self.tags.get(func)
        if tags is None:
            tags = self.tags[func] = " ".join(word for tag, word in _TAGS.items() if tag in func.tags)
        recorder.settle(str(func), tags, site, started, through)
        return result
