"""Find wrappers of a model out of which the model is taken again: after they took the keys of a checkpoint,
or where a device without CUDA has no wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.detectors.blocks import blocks_around
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_ASKS = re.compile(
    r"\bhasattr\b|\bisinstance\b|cuda|gpu|parallel|distributed|local_rank|world_size", re.IGNORECASE
)
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


def bare_module(node: ir.Call, place: CodeContext, analysis: Analysis) -> str:
    """Return a path such as `self.model` whose `.module` the function, or the class of `self`, reads without
    a test, although nothing but an `if` without another branch wraps it; "" if there is none."""
    root = place.scope.node or analysis.module
    above = list(blocks_around(node, root.body))
    tests = [s for body, at in above if isinstance(s := body[at], ir.If)]
    block, at = above[-1]
    wrapping = block[at]
    if not tests or tests[-1].orelse or not isinstance(wrapping, ir.Assign) or len(wrapping.targets) != 1:
        return ""
    path = path_of(wrapping.targets[0])
    first = wrapping.value
    while isinstance(first, ir.Call) and first is not node and isinstance(first.func, ir.Attribute):
        first = first.func.value  # of `DataParallel(model).to(device)`
    around = place.scope.class_scope if path.startswith("self.") else None
    whole = around.node if around is not None and around.node is not None else root
    if not path or first is not node or _is_wrapped_elsewhere(whole, path, wrapping):
        return ""
    reads = (part for part in ir.walk(whole) if isinstance(part, ir.Attribute) and part.attr == "module")
    bare = (r for r in reads if path_of(r.value) == path and not _is_tested(r, whole, analysis))
    return path if any(read.start > wrapping.end for read in bare) else ""


def _is_wrapped_elsewhere(root: ir.Node, path: str, wrapping: ir.Assign) -> bool:
    """Return whether another call gives a path its value from what it held: `model = prepare(model)`."""
    for part in ir.walk(root):
        match part:
            case ir.Assign(targets=targets, value=ir.Call(args=args) as call) if part is not wrapping:
                taken = any(
                    path_of(n) == path for arg in args for n in ir.walk(arg) if isinstance(n, ir.Expr)
                )
                if path in map(path_of, targets) and (taken or "Parallel" in path_of(call.func)):
                    return True
    return False


def _is_tested(read: ir.Attribute, root: ir.Node, analysis: Analysis) -> bool:
    """Return whether a read of `.module` stands below a test that may ask for the wrapper, or in a `try`."""
    for part in ir.path_down(root, read):
        match part:
            case ir.If(test=test) | ir.IfExp(test=test) if _ASKS.search(analysis.source(test)):
                return True
            case ir.Bool() | ir.Try():
                return True
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
