"""Read the training record of a process as a `Training`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from xlamig.observations import Group, Mark, Operation, Optimizer, Parameter, Saved, Training
from xlamig.observe.places import spot


def training(raw: Mapping[str, Any]) -> Training:
    return Training(
        losses=tuple(_number(loss[0]) * _sign(loss[1]) for loss in raw["losses"]),
        draws=tuple(raw["draws"]),
        parameters=tuple(map(_parameter, raw["parameters"])),
        strangers=tuple(map(_parameter, raw["strangers"])),
        optimizers=tuple(map(_optimizer, raw["optimizers"])),
        ties=tuple(tuple(names) for names in raw["ties"]),
        started=_marks(raw["started"]),
        after_one=_marks(raw["after_one"]),
        state=_marks(raw["state"]),
        outputs={name: None if marks is None else _all(marks) for name, marks in raw["outputs"].items()},
        saved=tuple(Saved(spot(one["place"]), one["on_xla"]) for one in raw["saved"]),
        unsaved=tuple(raw["unsaved"]),
        operations=tuple(
            Operation(one["name"], spot(one["place"]), _all(one["values"])) for one in raw["operations"]
        ),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _sign(product: float | None) -> float:
    """Return the signature of a single number: the number itself, as its product with the wave."""
    return -1.0 if product is not None and product < 0 else 1.0


def _mark(raw: Sequence[float | None]) -> Mark:
    return _number(raw[0]), _number(raw[1])


def _all(raw: Sequence[Sequence[float | None]]) -> tuple[Mark, ...]:
    return tuple(map(_mark, raw))


def _marks(raw: Mapping[str, Any]) -> dict[str, Mark]:
    return {name: _mark(mark) for name, mark in raw.items()}


def _parameter(raw: Mapping[str, Any]) -> Parameter:
    return Parameter(
        raw["name"],
        tuple(raw["shape"]),
        raw["device"],
        None if raw["change"] is None else _mark(raw["change"]),
        raw["has_gradient"],
        raw["held"],
    )


def _optimizer(raw: Mapping[str, Any]) -> Optimizer:
    gradients = tuple(_marks(step) for step in raw["gradients"])
    numbers = {step: tuple(map(_group, groups)) for step, groups in raw["hyperparameters"]}
    return Optimizer(raw["type"], spot(raw["place"]), raw["steps"], gradients, numbers)


def _group(raw: Mapping[str, Any]) -> Group:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}
