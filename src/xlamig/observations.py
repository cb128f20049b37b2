"""The observations of a run, in the words of the facts. See observe/ for how it is found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

EventKind = Literal[
    "host-read",
    "dynamic-shape",
    "changing-shape",
    "changing-constant",
    "changing-path",
    "recompile",  # for a reason that no line shows
    "operator",
    "unsupported-operator",  # no kernel at all
    "execution",  # of what was pending, and nothing was read
    "transfer",
    "step-boundary",
]

Frequency = Literal["once", "warm-up", "interval", "step"]
"""In one step; in the first two only; in some; in (nearly) all from the first time on."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Rows count from 1, columns are code points from 1. `filename` as the program named it."""

    filename: str
    row: int
    column: int
    end_row: int
    end_column: int
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """The events at one place. `seconds` is what the program waited there, compilation included."""

    kind: EventKind
    via: str
    spot: Spot | None
    frequency: Frequency
    count: int
    compiles: int
    executions: int
    device_to_host: int
    host_to_device: int
    seconds: float
    compile_seconds: float
    steps_seen: int
    through: str = ""  # "backward"
    operators: tuple[str, ...] = ()  # aten names that ran on the CPU
    detail: str = ""  # what differed from the step before
    client_only: bool = False  # a TPU has a kernel where XLA's CPU client has none
    rule: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Per step; 0/1/0 is a step that runs as one graph and is never read."""

    compiles: float
    executions: float
    device_to_host: float

    def __str__(self) -> str:
        return "/".join(f"{value:g}" for value in (self.compiles, self.executions, self.device_to_host))


HEALTHY = Cost(0, 1, 0)
QUIET: frozenset[EventKind] = frozenset({"step-boundary", "transfer"})
"""Kinds of events that belong to a step that runs well."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended the program. `rule` explains it, if one does."""

    type: str
    message: str
    spot: Spot | None
    rule: str = ""
    advice: str = ""

    @property
    def summary(self) -> str:
        """The type and the first line of the message, which may be empty."""
        first = next(iter(self.message.strip().splitlines()), "")
        return f"{self.type}: {first}" if first else self.type


Number = float | tuple[float, ...]
Group = Mapping[str, Number]
"""The hyperparameters of one group of an optimizer."""

Mark = tuple[float, float]
"""The norm of a tensor and its product with a fixed wave; NaN where it holds no finite number."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`change` is None for one that no optimizer with a step holds."""

    name: str
    shape: tuple[int, ...]
    device: str
    change: Mark | None = None
    has_gradient: bool = True
    held: bool = True  # by an optimizer that stepped


@dataclass(frozen=True, slots=True)
class Optimizer:
    """`gradients` has those of the first steps, by parameter; `hyperparameters` those of the groups, by
    the step from which on they hold."""

    type: str
    spot: Spot | None
    steps: int
    gradients: tuple[Mapping[str, Mark], ...] = ()
    hyperparameters: Mapping[int, tuple[Group, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Saved:
    """A call of `torch.save`."""

    spot: Spot | None
    on_xla: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of torch and what it returned."""

    name: str
    spot: Spot | None
    values: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Training:
    """The training of a program, up to the moment it was stopped."""

    losses: tuple[float, ...] = ()
    draws: tuple[int, ...] = ()  # the state of the random numbers at each loss
    parameters: tuple[Parameter, ...] = ()
    strangers: tuple[Parameter, ...] = ()  # that an optimizer holds and no module
    optimizers: tuple[Optimizer, ...] = ()
    ties: tuple[tuple[str, ...], ...] = ()
    started: Mapping[str, Mark] = field(default_factory=dict)  # before the first step, by name
    after_one: Mapping[str, Mark] = field(default_factory=dict)  # at the first backward pass after a step
    state: Mapping[str, Mark] = field(default_factory=dict)
    outputs: Mapping[str, tuple[Mark, ...] | None] = field(default_factory=dict)  # in evaluation mode
    saved: tuple[Saved, ...] = ()
    unsaved: tuple[str, ...] = ()  # "`Net` differs": after saving and loading its state
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check of a port. `found` is the evidence; of a check that failed, `spot` is the line
    and `advice` what to do."""

    title: str
    passed: bool
    found: str
    advice: str = ""
    rule: str = ""
    spot: Spot | None = None
    step: int = 0  # of the optimizer, at which it failed first


@dataclass(frozen=True, slots=True)
class Trace:
    """`steps` counts the boundaries at `boundary`; the steady state is that of the later half."""

    steps: int
    boundary: Spot | None
    steady: Cost | None
    first: tuple[Cost, ...]
    totals: Cost
    events: tuple[Event, ...]
    failure: Failure | None
    processes: int
    device: str
    redirected: tuple[tuple[str, int], ...] = ()
    left: tuple[tuple[str, int], ...] = ()  # what asks for CUDA and could not be redirected
    training: Training | None = None
    lines: Mapping[str, Mapping[int, int]] = field(default_factory=dict)  # steps, by file and row
