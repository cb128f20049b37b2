"""The modules that are alive, what they hold, and under which names."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any

import torch

_WRAPPERS = ("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel", "OptimizedModule")


class Modules:
    """Every module that was made and is alive, in order."""

    def __init__(self) -> None:
        self._made: list[weakref.ref[torch.nn.Module]] = []
        self.inputs: dict[int, tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]] = {}
        self._running = 0
        self._watch_creation()
        self._watch_calls()

    def _watch_creation(self) -> None:
        """Copies and loaded modules are created, too, but their constructor does not run."""

        def create(kind: type[torch.nn.Module], *args: Any, **kwargs: Any) -> torch.nn.Module:
            module = object.__new__(kind)
            self._made.append(weakref.ref(module))
            return module

        torch.nn.Module.__new__ = create

    def _watch_calls(self) -> None:
        """Keep what each outermost module was last called with while gradients were wanted."""
        call = torch.nn.Module._call_impl

        @functools.wraps(call)
        def called(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if not self._running and module.training and torch.is_grad_enabled():
                self.inputs[id(module)] = (module, args, kwargs)
            self._running += 1
            try:
                return call(module, *args, **kwargs)
            finally:
                self._running -= 1

        torch.nn.Module._call_impl = called

    def roots(self) -> Iterator[tuple[str, torch.nn.Module]]:
        """The outermost modules that hold tensors, by class, numbered where there are several."""
        alive = [
            module for made in self._made if (module := made()) is not None and "_modules" in vars(module)
        ]
        inner = {id(child) for module in alive for child in module._modules.values()}
        counts: dict[str, int] = {}
        for module in alive:
            if id(module) in inner or not any(True for _ in _tensors(module)):
                continue
            module = unwrap(module)
            name = type(module).__name__
            counts[name] = counts.get(name, 0) + 1
            yield (name if counts[name] == 1 else f"{name}#{counts[name]}"), module

    def tensors(self) -> Iterator[tuple[str, torch.Tensor, bool]]:
        """(name, tensor, whether it is a parameter); a tied parameter once for each of its names."""
        for root, module in self.roots():
            for name, tensor in _tensors(module):
                yield f"{root}.{_plain(name)}", tensor, isinstance(tensor, torch.nn.Parameter)


def _tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def unwrap(module: torch.nn.Module) -> torch.nn.Module:
    """The module inside wrappers that add no parameters."""
    while type(module).__name__ in _WRAPPERS:
        module = next(iter(module._modules.values()))
    return module


def _plain(name: str) -> str:
    return name.replace("_orig_mod.", "").removeprefix("module.")
