"""A comparison of GPUs and TPUs: what is asked and what the answer holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xlamig.knowledge.hardware import Accelerator, Price

UTILISATION = (0.2, 0.4, 0.5)  # of the bf16 peak: low, likely, high


@dataclass(frozen=True, slots=True)
class Question:
    """`hours` of `gpus` GPUs; utilisations are shares of the bf16 peak; given prices replace those of
    the table; `hourly_rate` is the cost of one hour of migration work."""

    gpu: str
    gpus: int
    hours: float
    tpus: tuple[str, ...]
    gpu_utilisation: float = UTILISATION[1]
    tpu_utilisation: tuple[float, float, float] = UTILISATION
    prices: Mapping[str, float] = field(default_factory=dict)
    hourly_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Money:
    low: float
    likely: float
    high: float


@dataclass(frozen=True, slots=True)
class Option:
    """The same work on one kind of TPU, on `chips` of it: the smallest slice that ends no later than the
    GPU job. `pays_off` is the number of GPU-job hours after which the migration has paid for itself,
    soonest, likely and latest; None where that never is or is unknown."""

    tpu: Accelerator
    chip_hours: Money
    chips: int
    cost: Money
    prices: tuple[Price, ...]
    saved: Money
    pays_off: tuple[float | None, float | None, float | None] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Economics:
    currency: str
    question: Question
    gpu: Accelerator
    gpu_prices: tuple[Price, ...]
    now: Money
    migration: Money | None
    options: tuple[Option, ...]
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """`gpu` is what the program runs on today; utilisations are shares of the bf16 peak."""

    gpu: str | None
    gpu_utilisation: float
    tpu_utilisation: tuple[float, float, float]
    prices: Mapping[str, float]
    hourly_rate: float | None


@dataclass(frozen=True, slots=True)
class StepOption:
    """One chip. `result` is its entry in the fit.
    `seconds` and `cost` are of one step of the whole batch; `pays_off` is in steps."""

    tpu: Accelerator
    result: Mapping[str, Any]
    chips: int
    seconds: Money
    cost: Money
    per_million: Money
    prices: tuple[Price, ...]
    saved: Money | None
    pays_off: tuple[float | None, float | None] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepCosts:
    """`unit` is what a step handles `per_step` of: tokens, samples or, of a batch that it makes
    itself, steps."""

    program: str
    caveat: str
    currency: str
    flops: int
    unit: str
    per_step: int
    options: tuple[StepOption, ...]
    gpu: Accelerator | None
    gpu_cost: Money | None
    migration: Money | None
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]
