"""Runs a program on torch_xla, or on the CPU in its place, and returns what it did."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from xlamig.observations import Trace
from xlamig.observe.collect import collect
from xlamig.observe.launch import Exit, Program, Watch, launch, require

_ENTRY = "xlamig.observe.inside.start"
QUICK_COMPILATION = {
    "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
}
"""The environment in which XLA's CPU compiler takes less time, and what it makes is slower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The request for a run. No `steps` is no limit."""

    steps: int = 0
    as_cuda: bool = False
    on_cpu: bool = False  # a program for XLA, without XLA
    training: bool = False  # parameters, gradients and losses, too
    until_moved: bool = False  # more steps, if the loss has not moved after `steps`
    perturb: bool = False  # gradients, by as much as another device may round differently
    locate: int = 0  # the optimizer step before which each operation's values are kept


@dataclass(frozen=True, slots=True)
class Run:
    """`trace` is None for a program that never imports torch_xla."""

    exit: Exit
    trace: Trace | None


def run(program: Program, asked: Asked) -> Run:
    """Raises LaunchError for a program that cannot be started, and without torch_xla."""
    require(program, "torch_xla")
    watch = Watch(
        entry=_ENTRY,
        after="torch_xla",
        settings={name: getattr(asked, name) for name in Asked.__dataclass_fields__},
        bring=(("torch", "torch_xla"),) if asked.as_cuda or asked.training else (),
        environment={"PJRT_DEVICE": "CPU", **(QUICK_COMPILATION if asked.training else {})},
    )
    with tempfile.TemporaryDirectory(prefix="xlamig-") as name:
        ended = launch(program, watch, Path(name))
        return Run(ended, collect(Path(name)))
