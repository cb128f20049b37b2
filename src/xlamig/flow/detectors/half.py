"""Find the choice of float16 for every device but the CPU: an XLA device gets it too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xlamig import ir
from xlamig.facts import DeviceChoice
from xlamig.flow.detectors.outcomes import outcomes_behind
from xlamig.flow.model.site import Analysis, CodeContext

_T = TypeVar("_T")

_HALF = frozenset({"torch.float16", "torch.half", "float16", "fp16", "half"})
_OTHER = frozenset({"torch.float32", "torch.float", "torch.bfloat16", "float32", "fp32", "float", "bfloat16"})


class HalfPrecision:
    """Makes the device-choice fact of a dtype that a test for the CPU decides."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def ternary(self, node: ir.IfExp, place: CodeContext) -> Iterator[DeviceChoice]:
        """`torch.float32 if device == "cpu" else torch.float16`"""
        on_cpu, other = _branches(node.test, node.body, node.orelse)
        if on_cpu is not None and other is not None:
            yield from self._chosen(on_cpu, other, place)

    def statement(self, node: ir.If, place: CodeContext) -> Iterator[DeviceChoice]:
        """`if device == "cpu": dtype = torch.float32 else: dtype = torch.float16`"""
        on_cpu, other = _branches(node.test, node.body, node.orelse)
        first = {target: value for s in on_cpu or () for target, value in outcomes_behind(s, place.scope)}
        for target, value in (found for s in other or () for found in outcomes_behind(s, place.scope)):
            if target in first:
                yield from self._chosen(first[target], value, place)

    def _chosen(self, on_cpu: ir.Expr, other: ir.Expr, place: CodeContext) -> Iterator[DeviceChoice]:
        if self._dtype(on_cpu, place) in _OTHER and self._dtype(other, place) in _HALF:
            yield DeviceChoice(
                **place.fields(other), via="dtype", device="cpu", spelled=self.analysis.source(other)
            )

    def _dtype(self, node: ir.Expr, place: CodeContext) -> object:
        return self.analysis.values.of(node, place.scope).value.value


def _branches(test: ir.Expr, body: _T, orelse: _T) -> tuple[_T | None, _T | None]:
    """Return the branch for the CPU and the other one; None twice for another test."""
    match test:
        case ir.Unary(op="not", operand=operand):
            return _branches(operand, orelse, body)
        case ir.Compare(ops=("==",), comparators=(ir.Const(value="cpu"),)):
            return body, orelse
        case ir.Compare(ops=("!=",), comparators=(ir.Const(value="cpu"),)):
            return orelse, body
    return None, None
