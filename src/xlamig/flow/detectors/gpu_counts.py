"""Tests of how many GPUs a program has, where they decide on work that several processes share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from xlamig import ir
from xlamig.facts import ApiUse
from xlamig.flow.model.cuda_questions import names_cuda
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_COUNT = "torch.cuda.device_count"
_CUDA = re.compile(r"\.cuda\b")


class GpuCounts:
    """Finds the tests of options such as `cfg.NUM_GPUS`, which a module also asks before it uses CUDA."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def statement(self, node: ir.If, place: CodeContext) -> Iterator[ApiUse]:
        """Yield the use of a number of GPUs that decides whether processes combine what they compute."""
        option = _asked(node.test)
        if option is None or not shares_work(node.body) or option_name(option) not in self._of_cuda:
            return
        text = self.analysis.source(option)
        inside = place.within("condition", "comparison", "shared-work")
        yield ApiUse(**inside.fields(option), name=_COUNT, spelled=text, via="option")

    @cached_property
    def _of_cuda(self) -> frozenset[str]:
        """The options that decide in this module whether CUDA is used: a TPU host has to set them to 0."""
        if not _CUDA.search(self.analysis.text):
            return frozenset()
        tests = (node for node in ir.walk(self.analysis.module) if isinstance(node, ir.If))
        asked = ((_asked(node.test), node.body) for node in tests)
        return frozenset(option_name(option) for option, body in asked if option and _uses_cuda(body))


def shares_work(body: ir.Block) -> bool:
    """Return whether a block combines what processes compute: wraps a model, or runs a collective."""
    calls = (node for statement in body for node in ir.walk(statement) if isinstance(node, ir.Call))
    return any(path_of(call.func).rpartition(".")[2] in table.names("replicas", "calls") for call in calls)


def wraps_for_gpus(node: ir.Stmt) -> bool:
    """Return whether a statement is `model = nn.DataParallel(model)`, for the GPUs of one process."""
    value = node.value if isinstance(node, ir.Assign) else None
    return isinstance(value, ir.Call) and path_of(value.func).rpartition(".")[2] in table.names(
        "replicas", "threads"
    )


def option_name(node: ir.Expr) -> str:
    """Return the last name of an option, in lower case."""
    return path_of(node).rpartition(".")[2].lower()


def _asked(test: ir.Expr) -> ir.Expr | None:
    """Return the option of a test that asks for a number of GPUs: `cfg.NUM_GPUS`, `args.n_gpu > 1`."""
    match test:
        case ir.Bool(op="and", values=values):
            return next(filter(None, map(_asked, values)), None)
        case ir.Compare(left=left, ops=(">" | ">=" | "!=",), comparators=(ir.Const(value=int()),)):
            return _asked(left)
        case ir.Name() | ir.Attribute() if table.name_like("gpu-count").search(option_name(test)):
            return test
    return None


def _uses_cuda(body: ir.Block) -> bool:
    """Return whether a block moves something to CUDA, asks CUDA, or names one of its devices."""
    for node in (inside for statement in body for inside in ir.walk(statement)):
        match node:
            case ir.Attribute(attr="cuda"):  # `x.cuda()`, `torch.cuda.current_device()`
                return True
            case ir.Const() if names_cuda(node):
                return True
    return False
