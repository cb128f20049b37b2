"""Tests of whether CUDA is available, and the devices that expressions name."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import Span
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.option_codes import option_of
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge.devices import alternatives

_CURRENT = "torch.cuda.current_device"
_NOT_XLA = re.compile(rf"^(?:{alternatives('host', 'nvidia', 'other')})\b")


class CudaTests:
    def __init__(self, analysis: Analysis, guards: Guards) -> None:
        self.analysis, self.guards = analysis, guards

    def parts(self, node: ir.IfExp, place: CodeContext) -> dict[str, Span]:
        """Return the spans of a ternary on CUDA: "availability", "fallback", "rest" for another test, and
        "setting" for an option that holds the device. A chain has them if one test asks for CUDA; its
        fallback is the last choice, if that is the CPU."""
        links = [node]
        while isinstance(last := links[-1].orelse, ir.IfExp):
            links.append(last)
        asking = [link for link in links if self.asks_for_cuda(link.test, place)]
        if len(asking) != 1 or (len(links) > 1 and self.device_text(last, place) != "cpu"):
            return {}
        chosen, text = asking[0].body, self.device_text(asking[0].body, place)
        setting = self.setting_in(chosen, place)
        parts = self.asked(asking[0].test, place) if setting or (text or "").startswith("cuda") else {}
        if parts and setting:
            parts["setting"] = (setting.start, setting.end)
        return parts and {**parts, "fallback": (last.start, last.end)}

    def setting_in(self, node: ir.Expr, place: CodeContext) -> ir.Expr | None:
        """Return the option that decides the device which an expression gives: `args.device`, which may have
        a default, also in `torch.device(args.device)`."""
        match node:
            case ir.Call(func=func, args=(ir.Arg(value=inner),)) if (
                path_of(func).rpartition(".")[2] == "device"
            ):
                return self.setting_in(inner, place)
        may_differ = (
            self.device_text(node, place) is None or not self.analysis.values.of(node, place.scope).sure
        )
        return node if may_differ and option_of(node) else None

    def asked(self, test: ir.Expr, place: CodeContext) -> dict[str, Span]:
        """Return the spans of the question for CUDA, "availability", and of the "rest" of a test."""
        if self.asks_only_for_cuda(test, place):
            return {"availability": (test.start, test.end)}
        whole = self._set_before(test, place) if isinstance(test, ir.Name) else test
        if not isinstance(whole, ir.Bool) or whole.op != "and":
            return {}
        asked = [self.asks_only_for_cuda(v, place) for v in whole.values]
        if asked.count(True) != 1 or not (asked[0] or asked[-1]):
            return {}
        rest = whole.values[1:] if asked[0] else whole.values[:-1]
        calls = [n for value in rest for n in ir.walk(value) if isinstance(n, ir.Call)]
        if any(self.asks_for_cuda(v, place) for v in rest) or (calls and whole is not test):
            return {}
        at = whole.values[0 if asked[0] else -1]
        return {"availability": (at.start, at.end), "rest": (rest[0].start, rest[-1].end)}

    def asked_or_denied(self, test: ir.Expr, place: CodeContext) -> dict[str, Span]:
        """Return the same spans for a statement; its test may also hold without CUDA: `not available()`, and
        `wanted and not available()`, which has no "rest" where it holds."""
        match test:
            case ir.Unary(op="not", operand=operand):
                return self.asked(operand, place)
            case ir.Bool(op="and", values=values):
                denied = [v for v in values if isinstance(v, ir.Unary) and self.asks_for_cuda(v, place)]
                others = [v for v in values if not any(v is one for one in denied)]
                if len(denied) == 1 and not any(self.asks_for_cuda(v, place) for v in others):
                    return self.asked(denied[0].operand, place)
        return self.asked(test, place)

    def _set_before(self, test: ir.Name, place: CodeContext) -> ir.Expr | None:
        """Return the expression that the name was set to, if it still means the same: set once, here, from
        names set once."""
        bindings = place.scope.bindings.get(test.id, [])
        if len(bindings) != 1 or bindings[0].block or bindings[0].value is None:
            return None
        value = bindings[0].value
        for node in ir.walk(value):
            if isinstance(node, ir.Name) and len(place.scope.lookup(node.id)) > 1:
                return None
            if isinstance(node, ir.Attribute) and place.scope.lookup(path_of(node)):
                return None
        return value

    def asks_only_for_cuda(self, test: ir.Expr, place: CodeContext) -> bool:
        """Return whether the test is availability itself, or a name for nothing else."""
        if isinstance(test, ir.Call):
            return self.asks_for_cuda(test, place)
        path = path_of(test)
        bindings = place.scope.find(path) if path else []
        if len(bindings) != 1:
            return False
        match bindings[0].value:
            case ir.Call():
                return self.asks_for_cuda(test, place)
            case ir.IfExp(test=ir.Call() as asked, body=ir.Const(value=True), orelse=ir.Const(value=False)):
                return self.asks_for_cuda(asked, place)
        return False

    def asks_for_cuda(self, test: ir.Expr, place: CodeContext) -> bool:
        """Return whether a test asks, alone or among others, if CUDA is available."""
        if isinstance(test, ir.Bool):
            return any(self.asks_for_cuda(value, place) for value in test.values)
        if isinstance(test, ir.Unary) and test.op == "not":
            return self.asks_for_cuda(test.operand, place)
        known = self.analysis.values.of(test, place.scope)
        return known.value.kind == "cuda-test" and known.availability

    def is_negated(self, test: ir.Expr, place: CodeContext) -> bool:
        """Return whether CUDA is available where the test fails, and only there."""
        return not any(g.kind == "cuda" for g in self.guards.of(test, place.scope, True)) and any(
            g.kind == "cuda" for g in self.guards.of(test, place.scope, False)
        )

    def denies(self, test: ir.Expr, place: CodeContext) -> bool:
        """Return whether CUDA is missing wherever the test holds: `wanted and not available()` too."""
        if isinstance(test, ir.Bool) and test.op == "and":
            return any(self.denies(value, place) for value in test.values)
        return self.is_negated(test, place)

    def device_text(self, node: ir.Expr, place: CodeContext, takes_index: bool = False) -> str | None:
        """Return the device that an expression names; with `takes_index`, an integer names a CUDA device."""
        node = self._result(node, place)
        if takes_index and isinstance(node, ir.Const) and type(node.value) is int:
            return f"cuda:{node.value}" if node.value >= 0 else "cpu"
        if isinstance(node, ir.Call) and self.analysis.names.dotted(node.func, place.scope) == _CURRENT:
            return "cuda"
        known = self.analysis.values.of(node, place.scope)
        text = known.value.value
        if known.value.kind in ("constant", "pattern", "device") and isinstance(text, str):
            return text if _NOT_XLA.match(text) else None
        return None

    @staticmethod
    def _result(node: ir.Expr, place: CodeContext) -> ir.Expr:
        """Return what a function of the module returns in its only statement, or the one before; other nodes
        as they are."""
        bound = place.scope.lookup(path_of(node.func)) if isinstance(node, ir.Call) and not node.args else []
        function = bound[0].node if len(bound) == 1 else None
        match function.body if isinstance(function, ir.FunctionDef) else ():
            case (ir.Return(value=ir.Expr() as value),):
                return value
            case (ir.Assign(targets=(ir.Name(id=name),), value=value), ir.Return(value=ir.Name(id=other))):
                return value if name == other else node
        return node
