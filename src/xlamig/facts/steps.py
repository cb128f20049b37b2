"""The steps of a loop, modules that are moved between them, and what one rank does alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from xlamig.facts.common import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBoundary(Fact):
    """A loop each iteration of which is a step, or optimizes inside one, and what ends it. One fact per loop,
    where its optimizer steps, or at its header if none does.

    loop      what the iterations do; comprehension: those of a comprehension or `map` call a model; inner:
              they optimize something inside a step; called: an object of a library calls the function that
              is a step of training
    boundary  none: nothing runs the graph; read: a host read in every iteration does; some:
              one in a branch does, as often as the step runs; part: it runs what it
              reads, and the loop keeps other results; sync: a step marker, or without an update a wait
              for CUDA that becomes one; several: more than one marker;
              loader: a device loader; framework: a library's own loop
    optimizer how parameters are updated: plain `step()`, xm (`xm.optimizer_step` with no barrier),
              none, several
    """

    kind: ClassVar[str] = "step-boundary"

    loop: Literal["training", "evaluation", "comprehension", "decoding", "inner", "called"]
    boundary: Literal["none", "read", "some", "part", "sync", "several", "loader", "framework"]
    optimizer: Literal["plain", "xm", "none", "several"] = "none"
    accumulates: bool = False  # the optimizer's step stands under a condition
    branched: bool = False  # it stands in one of several branches that update
    update: str = ""  # the source text of the optimizer's step, where it stands in the loop itself
    cut: str = ""  # a device tensor that the iterations index by a Python number, a different one each
    state: str = ""  # what the model gives and gets back in the next iteration, where no read is of it
    grows: str = ""  # beside a `state` or without a boundary, what the iterations join more to


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleMove(Fact):
    """A module is moved after something had come to depend on its parameters: a move to XLA replaces them.

    via "away": a loop takes it to the CPU and never back; "saved": a method takes one that its object keeps
    to the CPU, saves it and leaves it there; "fit": a trainer moves it, and takes the optimizer made before.
    """

    kind: ClassVar[str] = "module-move"

    via: Literal["optimizer", "tie", "hook", "attribute", "list", "data", "host-data", "away", "saved", "fit"]
    module: str  # source text
    optimizer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCall(Fact):
    """A call that the wrong ranks make. One rank alone does what all have to do, mostly in a function that it
    calls: run a collective or the model, read or save parameters, read the result of a collective. Or all
    ranks open the file that one of them writes.
    """

    kind: ClassVar[str] = "rank-call"

    effect: Literal["collective", "model", "parameters", "update", "save", "read", "file"]
    callee: str
