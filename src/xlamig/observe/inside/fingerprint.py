"""Two numbers that stand for a tensor, worked out where the tensor is and read later."""

from __future__ import annotations

import math
from typing import Any

import torch

_waves: dict[tuple[int, torch.device], torch.Tensor] = {}


def fingerprint(tensor: torch.Tensor) -> torch.Tensor:
    """The norm, and the product with a fixed wave, which another order or sign of the values changes."""
    with torch.no_grad():
        values = tensor.detach()
        values = torch.view_as_real(values) if values.is_complex() else values
        values = values.reshape(-1).to(torch.float32)
        return torch.stack([values.norm(), (values * _wave(len(values), values.device)).sum()])


def _wave(length: int, device: torch.device) -> torch.Tensor:
    key = (length, device)
    if key not in _waves:
        _waves[key] = torch.cos(torch.arange(length, dtype=torch.float32) * 2.399963).to(device)
    return _waves[key]


def read(fingerprints: Any) -> Any:
    """The same nested lists and dictionaries, with numbers in the place of tensors; one transfer a device."""
    found: list[torch.Tensor] = []
    _gather(fingerprints, found)
    numbers: list[list[float]] = [[]] * len(found)
    for device in {one.device for one in found}:
        places = [i for i, one in enumerate(found) if one.device == device]
        for i, values in zip(places, torch.stack([found[i] for i in places]).tolist(), strict=True):
            numbers[i] = values
    return _fill_values(fingerprints, iter(numbers))


def _gather(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _gather(item, found)


def _fill_values(value: Any, values: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return [number if math.isfinite(number) else None for number in next(values)]
    if isinstance(value, dict):
        return {key: _fill_values(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill_values(item, values) for item in value]
    return value
