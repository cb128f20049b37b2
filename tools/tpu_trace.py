"""Runs one call, and its gradient, through torch_tpu's own kernels up to StableHLO, with no TPU attached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from operator_samples import Sample
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from tpu_device import (
    MODE,
    NEEDS_DEVICE,
    READS,
    Untried,
    aten_name,
    compiler,
    execution_mode,
    has,
    is_on_tpu,
    on_device,
    state_of,
    text_of,
)
from tpu_single_ops import OneByOne, called, stand_ins


@dataclass
class Outcome:
    """`status`: ok, error, or untried where the call cannot be made here. A kernel that reads a value
    (`reads`) or needs a TPU to begin with (`needs_device`: random numbers) ends a call; the operators
    after it are then tried one by one, and `beyond` says whether all of them were."""

    status: str = "ok"
    error: str = ""
    aten: list[str] = field(default_factory=list)  # in the order they were reached
    reads: list[str] = field(default_factory=list)
    needs_device: list[str] = field(default_factory=list)
    beyond: str = ""  # ok, or why the operators after a read are not known
    lowering: str = ""  # the error of the lowering to StableHLO
    backward: str = ""  # ok, error, none (no gradient), untried
    backward_errors: dict[str, str] = field(default_factory=dict)  # aten operator -> error
    backward_aten: list[str] = field(default_factory=list)
    backward_reads: list[str] = field(default_factory=list)


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen[aten_name(func)] = None
        return func(*args, **(kwargs or {}))


def forward(sample: Sample, lower: bool, clone: bool = False) -> Outcome:
    """Return the outcome of the kernels for a call."""
    outcome = Outcome()
    recorder = _Recorder()
    inputs: list[torch.Tensor] = []

    def place(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("tpu")
        if not isinstance(value, torch.Tensor):
            return value
        if value.layout != torch.strided or value.is_quantized or value.is_nested:
            raise Untried("the sample is no dense tensor")
        placed = compiler.placeholder(list(value.shape), value.dtype, False)
        inputs.append(placed)
        return placed.clone() if clone else placed  # in place, an argument itself cannot be written

    with torch.no_grad(), execution_mode.set_eager_mode(MODE):
        try:
            args, kwargs = pytree.tree_map(place, (sample.args, on_device(sample.kwargs)))
            state = pytree.tree_map(place, state_of(sample.module))
        except Untried as error:
            return Outcome("untried", str(error))
        except Exception as error:
            return Outcome("untried", text_of(error))
        try:
            with recorder:
                result = called(sample, args, kwargs, state)
        except Exception as error:
            outcome.status, outcome.error = "error", text_of(error)
    outcome.aten = list(recorder.seen)
    if has(outcome.error, (*READS, *NEEDS_DEVICE)):
        _one_by_one(sample, outcome)
    with torch.no_grad(), execution_mode.set_eager_mode(MODE):
        if lower and outcome.status == "ok" and not outcome.beyond:
            outputs = [t for t in pytree.tree_leaves(result) if is_on_tpu(t) and t.numel()]
            try:
                if outputs:
                    compiler.serialize_mlir_text(compiler.build_mlir(outputs, inputs))
            except RuntimeError as error:
                if "argument tensor has deferred ops" not in str(error):  # the call wrote to its argument
                    outcome.lowering = text_of(error)
    return outcome


def _one_by_one(sample: Sample, outcome: Outcome) -> None:
    """Try the rest of a call that ended where it needs a TPU: each operator by itself."""
    mode = OneByOne()
    try:
        args, kwargs, state, _ = stand_ins(sample, None)
        with mode, torch.no_grad():
            called(sample, args, kwargs, state)
        outcome.beyond = "ok"
    except Exception as error:
        outcome.beyond = text_of(error)
    last = outcome.aten[-1] if outcome.aten else ""
    outcome.reads = list(mode.reads) or ([last] if has(outcome.error, READS) else [])
    outcome.needs_device = list(mode.needs_device) or ([last] if has(outcome.error, NEEDS_DEVICE) else [])
    if mode.errors:
        outcome.error = next(iter(mode.errors.values()))
    else:
        outcome.status, outcome.error = "ok", ""


def backward(sample: Sample, outcome: Outcome) -> None:
    """Adds to `outcome` what the kernels say to the gradient: of all that can have one, else of the first
    tensor and the parameters."""
    _backward(sample, outcome, everything=True)
    if outcome.backward == "untried":
        _backward(sample, outcome, everything=False)


def _backward(sample: Sample, outcome: Outcome, everything: bool) -> None:
    mode = OneByOne()
    outcome.backward, outcome.backward_errors = "untried", {}
    try:
        args, kwargs, state, starts = stand_ins(sample, everything)
        with mode, torch.enable_grad():
            result = called(sample, args, kwargs, state)
            reached, in_forward = set(mode.seen), set(mode.errors)
            ends = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]
            if not ends or not starts:
                outcome.backward = "none"
                return
            mode.reads.clear()
            torch.autograd.grad(ends, starts, [torch.ones_like(t) for t in ends], allow_unused=True)
    except Exception as error:
        outcome.backward_errors = {"": text_of(error)}
        return
    outcome.backward_aten = [name for name in mode.seen if name not in reached]
    outcome.backward_reads = list(mode.reads)
    outcome.backward_errors = {k: v for k, v in mode.errors.items() if k not in in_forward}
    outcome.backward = "error" if outcome.backward_errors else "ok"
