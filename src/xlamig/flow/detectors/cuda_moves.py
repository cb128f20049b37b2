"""Calls that move a model or tensor to CUDA: `x.cuda()`, `x.to("cuda")`, torch's default device."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.detectors.cuda_tests import CudaTests
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values

_MOST_STATEMENTS = 3  # of a function that moves what it gets


class CudaMoves:
    """Finds the moves of a module."""

    def __init__(self, analysis: Analysis, tests: CudaTests) -> None:
        self.analysis = analysis
        self.tests = tests

    def in_block(self, block: ir.Block, place: CodeContext) -> ir.Call | None:
        """Return the first move to CUDA in a block, also in the `if` statements of it."""
        for statement in block:
            inner = (statement.body, statement.orelse) if isinstance(statement, ir.If) else ()
            if found := next(filter(None, (self.in_block(part, place) for part in inner)), None):
                return found
            value = statement.value if isinstance(statement, ir.Assign | ir.ExprStmt) else None
            for part in value.elements if isinstance(value, ir.Sequence) else (value,):
                found = self.of(part, place) or self._in_callee(part, place)
                if found is not None:
                    return found
        return None

    def _in_callee(self, node: ir.Expr | None, place: CodeContext) -> ir.Call | None:
        """Return the move in a function of the module that does nothing but move what it gets."""
        found = function_behind(node, place.scope) if isinstance(node, ir.Call) else None
        if found is None or len(found[0].body) > _MOST_STATEMENTS:
            return None
        values: list[ir.Expr | None] = []
        for statement in found[0].body:
            match statement:
                case ir.Assign(value=value) | ir.Return(value=value):
                    values.append(value)
                case ir.ExprStmt(value=value) if isinstance(value, ir.Const) or self.of(value, place):
                    values.append(value)
                case _:
                    return None
        parts = (part for v in values for part in (v.elements if isinstance(v, ir.Sequence) else (v,)))
        return next(filter(None, (self.of(part, place) for part in parts)), None)

    def sets_default(self, node: ir.Expr, place: CodeContext) -> bool:
        """Return whether a call sets torch's default device, and moves nothing that is there."""
        called = self.analysis.names.dotted(node.func, place.scope) if isinstance(node, ir.Call) else None
        return called in values.names("program", "default-device")

    def of(self, node: ir.Expr | None, place: CodeContext) -> ir.Call | None:
        """Return the call in a chain of method calls that moves to CUDA, or makes it torch's default."""
        while isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            if self.sets_default(node, place) and node.args:
                return node if "cuda" in self.analysis.source(node.args[0]) else None
            if node.func.attr == "cuda":
                return node
            if node.func.attr == "to" and node.args:
                text = self.tests.device_text(node.args[0].value, place)
                chosen = text is None and self._is_chosen(node.args[0].value, place)
                if chosen or (text is not None and text.startswith("cuda")):
                    return node
            node = node.func.value
        return None

    def _is_chosen(self, node: ir.Expr, place: CodeContext) -> bool:
        """Return whether a name is that of a device, or is set to one that may be CUDA: XLA does not move
        there under a test for CUDA, whichever device it is."""
        path, known = path_of(node), self.analysis.values.of(node, place.scope).value
        if known.kind != "expression" or not path:
            return known.kind == "device"
        if values.name_like("device").search(path.rpartition(".")[2]):
            return True
        parts = (part for b in place.scope.find(path) if b.value is not None for part in ir.walk(b.value))
        found = (self.tests.device_text(part, place) for part in parts if isinstance(part, ir.Const))
        return any(text is not None and text.startswith("cuda") for text in found)
