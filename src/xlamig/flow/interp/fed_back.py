"""A loop takes a hidden state from a model and gives it back in the next iteration."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.carried_names import assignments, names_in, replaced
from xlamig.flow.interp.domain import inside
from xlamig.flow.interp.frames import Loop, functions_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of


def state_left(m: State, loop: Loop) -> str:
    """Return the name of what a model gives and gets back in the next iteration, if nothing else uses it: a
    read of another result leaves it to be computed, from the first iteration on. "" where there is none."""
    fresh = replaced(loop.node)
    left = (
        name
        for name, call in _returned(loop.node)
        if name not in fresh and _may_be_on_device(m, name) and not _is_used(loop, name, call)
        if _calls_model(m, call)
    )
    return next(left, "")


def _returned(node: ir.For | ir.While) -> Iterator[tuple[str, ir.Call]]:
    """Yield the names that a call takes and that get its result, or a part of it."""
    pairs = [*assignments(node.body)]
    for target, call in pairs:
        if not isinstance(call, ir.Call):
            continue
        given = {name for arg in call.args for name in names_in(arg.value)}
        results = names_in(target)
        parts = (names_in(part) for part, value in pairs if _whole(value) in results)
        for name in sorted(given & results.union(*parts)):
            yield name, call


def _whole(node: ir.Expr) -> str:
    """Return `out` of `out.state[0]`, the name of what a value is a part of; "" for another expression."""
    while isinstance(node, ir.Attribute | ir.Subscript):
        node = node.value
    return node.id if isinstance(node, ir.Name) else ""


def _is_used(loop: Loop, name: str, call: ir.Call) -> bool:
    """Return whether anything but the call and the assignments to a name uses it in a loop; a test for None
    reads nothing."""
    apart = [call, *(part for target, value in assignments(loop.node.body) for part in (target, value)
                     if name in names_in(target))]  # fmt: skip
    waiting: list[ir.Node] = [*loop.node.body, *([loop.node.test] if isinstance(loop.node, ir.While) else ())]
    for node in waiting:  # it grows
        if any(node is one for one in apart) or _asks_for_none(node):
            continue
        if isinstance(node, ir.Name) and node.id == name:
            return True
        waiting.extend(ir.children(node))
    return False


def _asks_for_none(node: ir.Node) -> bool:
    return isinstance(node, ir.Compare) and node.ops[0] in ("is", "is not")


def _may_be_on_device(m: State, name: str) -> bool:
    held = m.env.get(name)
    return held is not None and inside(held).kind in ("tensor", "unknown") and inside(held).place != "host"


def _calls_model(m: State, call: ir.Call) -> bool:
    if not path_of(call.func):
        return False
    called = m.semantics.evaluate(call.func)
    bound = (function.bound for function in functions_of(called) if called.kind == "function")
    return called.kind == "module" or any(one is not None and one.kind == "module" for one in bound)
