"""The values of every operation of one step, so that two runs can be compared line by line."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import _disable_current_modes

from .fingerprint import fingerprint
from .frames import Site, innermost, place

MOST = 20_000
_UNTOLD = frozenset({"__get__", "__set__", "detach", "empty", "empty_like", "new_empty", "requires_grad_"})


class Locate(TorchFunctionMode):
    """Records the operations before the optimizer step of that number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.taken = 0
        self.operations: list[tuple[str, Site | None, list[torch.Tensor]]] = []

    def step(self) -> None:
        self.taken += 1

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.taken == self.number - 1 and len(self.operations) < MOST:
            values = result if isinstance(result, tuple | list) else [result]
            tensors = [one for one in values if isinstance(one, torch.Tensor) and not one.is_sparse]
            if tensors and getattr(func, "__name__", "") not in _UNTOLD:
                self._note(func, tensors)
        return result

    def _note(self, func: Any, tensors: list[torch.Tensor]) -> None:
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            marks = [fingerprint(tensor) for tensor in tensors]
        self.operations.append((resolve_name(func) or str(func), innermost(), marks))

    def located_tensors(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "place": place(site), "values": marks} for name, site, marks in self.operations
        ]
