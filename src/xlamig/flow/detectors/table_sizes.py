"""Operators that run only where an input has another size than the model's own table, such as its positions:
for the size that the table was made for, the function returns it as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from xlamig import ir
from xlamig.flow.detectors.blocks import leaves
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_SIZES = re.compile(
    r"\.shape\b|\.size\(|\blen\(|patch|token|pos|size|length|resolution|height|width|grid|dist"
    r"|(?:^|\W)[hwnHWN]\d?$"
)
_FOLLOWED = 8  # definitions, one behind the other


def resizes_table(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "equal-sizes": the test of equal sizes that keeps a function from calling an operator on its
    table, which it returns as it is."""
    root = place.scope.node
    if not analysis.names.interest.follows(name) or not isinstance(root, ir.FunctionDef) or not node.args:
        return {}
    if not _is_table(node.args[0].value, node.start, place):
        return {}
    for test, equal in _tests_before(node, root):
        if _asks_for_sizes(test, equal, place, analysis):
            return {"equal-sizes": short(analysis.in_one_line(test))}
    return {}


def _is_table(node: ir.Expr, before: int, place: CodeContext) -> bool:
    """Return whether an operand is made of an attribute of the module, or of positions that are passed in."""
    for _ in range(_FOLLOWED):
        node = _owner(node)
        path = path_of(node)
        if path.startswith("self."):
            return True
        bound = [b for b in place.scope.bindings.get(path, []) if b.end <= before]
        last = bound[-1] if bound else None
        if last is None or last.value is None or last.kind != "value":
            return table.name_like("position-table").search(path) is not None
        node, before = last.value, last.start
    return False


def _owner(node: ir.Expr) -> ir.Expr:
    """Return the tensor that methods and indices make another of: `x` of `x[:, 1:].reshape(n, -1).T`."""
    while True:
        match node:
            case ir.Call(func=ir.Attribute(value=value)) | ir.Subscript(value=value):
                node = value
            case ir.Attribute(value=value) if not path_of(node):
                node = value
            case _:
                return node


def _tests_before(node: ir.Call, root: ir.FunctionDef) -> Iterator[tuple[ir.Expr, bool]]:
    """Yield the tests that decide whether a function gets to a node, each with what keeps it away: True if
    the test holds."""
    above = [*ir.path_down(root, node), node]
    for outer, inner in pairwise(above):
        match outer:
            case ir.If(test=test, body=body) if inner is not test:
                yield test, not any(part is inner for part in body)
            case ir.IfExp(test=test, body=body) if inner is not test:
                yield test, inner is not body
        for block in ir.blocks_of(outer):
            if any(part is inner for part in block):
                earlier = (part for part in block if part.end <= inner.start)
                yield from ((s.test, True) for s in earlier if isinstance(s, ir.If) and leaves(s.body))


def _asks_for_sizes(test: ir.Expr, equal: bool, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether a test holds for equal sizes, or, if not `equal`, for sizes that differ."""
    match test:
        case ir.Unary(op="not", operand=operand):
            return _asks_for_sizes(operand, not equal, place, analysis)
        case ir.Bool(op=op, values=values) if op == ("and" if equal else "or"):
            sized = [v for v in values if not _asks_for_export(v, place, analysis)]
            return bool(sized) and all(_asks_for_sizes(v, equal, place, analysis) for v in sized)
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            sides = (left, right)
            constant = any(isinstance(side, ir.Const) for side in sides)
            return (
                op == ("==" if equal else "!=") and not constant and all(_is_size(s, analysis) for s in sides)
            )
    return False


def _asks_for_export(node: ir.Expr, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether a part of a test only asks for an export: `not torch.jit.is_tracing()`."""
    call = node.operand if isinstance(node, ir.Unary) else node
    name = analysis.names.dotted(call.func, place.scope) if isinstance(call, ir.Call) else None
    return name in table.names("program", "exports")


def _is_size(node: ir.Expr, analysis: Analysis) -> bool:
    parts = node.elements if isinstance(node, ir.Sequence) else (node,)
    return all(_SIZES.search(analysis.source(part)) for part in parts)
