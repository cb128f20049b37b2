"""Find wrappers of a model that take the keys of a checkpoint, and out of which the model is taken again."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.detectors.blocks import blocks_around
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_LEAVES_IT = frozenset({"load_state_dict", "module"})


def is_unwrapped(node: ir.Call, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether a wrapper only loads a state before its module replaces it: `model = model.module`."""
    root = place.scope.node or analysis.module
    above = list(blocks_around(node, root.body))
    block, at = above[-1]
    wrapping = block[at]
    if not isinstance(wrapping, ir.Assign) or wrapping.value is not node or len(wrapping.targets) != 1:
        return False
    path = path_of(wrapping.targets[0])
    tests = {analysis.source(s.test) for body, i in above[:-1] if isinstance(s := body[i], ir.If)}
    for later in (statement for body, i in reversed(above) for statement in body[i + 1 :]):
        inside = later.body if isinstance(later, ir.If) and analysis.source(later.test) in tests else (later,)
        if any(_unwraps(statement, path) for statement in inside):
            return bool(path)
        if not _leaves_wrapped(later, path):
            return False
    return False


def _unwraps(statement: ir.Stmt, path: str) -> bool:
    match statement:
        case ir.Assign(targets=(target,), value=ir.Attribute(value=wrapper, attr="module")):
            return path_of(target) == path_of(wrapper) == path
    return False


def _leaves_wrapped(statement: ir.Stmt, path: str) -> bool:
    """Return whether a statement does nothing with a wrapper but load its state, or use its module."""
    known = {id(part.value) for part in _uses(statement) if part.attr in _LEAVES_IT}
    mentions = (part for part in ir.walk(statement) if isinstance(part, ir.Name | ir.Attribute))
    return all(id(part) in known for part in mentions if path_of(part) == path)


def _uses(statement: ir.Stmt) -> Iterator[ir.Attribute]:
    return (part for part in ir.walk(statement) if isinstance(part, ir.Attribute))
