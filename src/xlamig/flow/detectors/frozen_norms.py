"""BatchNorm layers that a program puts into evaluation mode, one by one, while it trains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_METHODS = ("unknown.eval", "Module.eval")
_NAMED = re.compile(r"(?<!Frozen)BatchNorm", re.IGNORECASE)


def frozen_norm(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "batch-norm": `layer.eval()` runs for all layers of a model that are a BatchNorm. A part of a
    model may be frozen as a whole, so that no gradient goes through it."""
    if name not in _METHODS or node.args or not isinstance(node.func, ir.Attribute):
        return {}
    layer = path_of(node.func.value)
    root = place.scope.node or analysis.module
    if not _is_of_all(layer, root, node, analysis):
        return {}
    tests = (part for test in _tests_around(root, node) for part in _parts_of(test))
    found = bool(layer) and any(_asks_for_norm(test, layer, place, analysis) for test in tests)
    return {"batch-norm": layer} if found else {}


def _is_of_all(layer: str, root: ir.Node, node: ir.Node, analysis: Analysis) -> bool:
    """Return whether a function puts all layers of a model into evaluation mode and does not choose the mode:
    by a loop over its modules, or because it is given to `model.apply`."""
    if f"{layer}.train(" in analysis.text[root.start : root.end]:
        return False
    for above in ir.path_down(root, node):
        match above:
            case ir.For(iter=ir.Call(func=ir.Attribute(value=model, attr="modules" | "named_modules"))):
                return path_of(model).removesuffix(".module").isidentifier()
            case ir.FunctionDef(name=name, params=params) if layer in [param.name for param in params]:
                return re.search(rf"\b\w+(?:\.module)?\.apply\((?:\w+\.)?{name}\)", analysis.text) is not None
    return False


def _tests_around(root: ir.Node, node: ir.Node) -> Iterator[ir.Expr]:
    """Yield the tests that hold where a node runs."""
    for above in ir.path_down(root, node):
        match above:
            case ir.If(test=test, body=body) if any(ir.encloses(part, node) for part in body):
                yield test


def _parts_of(test: ir.Expr) -> tuple[ir.Expr, ...]:
    return test.values if isinstance(test, ir.Bool) and test.op == "and" else (test,)


def _asks_for_norm(test: ir.Expr, layer: str, place: CodeContext, analysis: Analysis) -> bool:
    match test:
        case ir.Call(func=ir.Name(id="isinstance"), args=(subject, kind)):
            kinds = kind.value.elements if isinstance(kind.value, ir.Sequence) else (kind.value,)
            return path_of(subject.value) == layer and any(_is_norm(k, place, analysis) for k in kinds)
        case ir.Compare(left=ir.Const(value=str(text)), ops=("in",)):
            return _NAMED.search(text) is not None
        case ir.Compare(
            left=ir.Call(func=ir.Attribute(attr="find"), args=(ir.Arg(value=ir.Const(value=str(text))), *_)),
            ops=("!=",) | (">=",) | (">",),
        ):
            return _NAMED.search(text) is not None
    return False


def _is_norm(kind: ir.Expr, place: CodeContext, analysis: Analysis) -> bool:
    name = analysis.names.dotted(kind, place.scope) or path_of(kind)
    return name.rpartition(".")[2] in table.names("modules", "batch-norms")
