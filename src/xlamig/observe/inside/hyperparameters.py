"""The numbers that an optimizer's groups of parameters are given."""

from __future__ import annotations

from typing import Any

_IMPLEMENTATION = {"params", "foreach", "fused", "capturable", "differentiable"}  # not what is computed


def of_groups(optimizer: Any) -> list[dict[str, float | list[float]]]:
    """Return one mapping per group; tensors are left out, because reading one costs a transfer."""
    return [
        {name: list(value) if isinstance(value, tuple) else value for name, value in group.items()
         if name not in _IMPLEMENTATION and _is_numeric(value)}
        for group in optimizer.param_groups
    ]  # fmt: skip


def _is_numeric(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, tuple) and all(map(_is_numeric, value)))
