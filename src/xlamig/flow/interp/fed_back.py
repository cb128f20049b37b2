"""A loop takes a hidden state from a model and gives it back in the next iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.interp.carried_names import assignments, names_in, replaced
from xlamig.flow.interp.domain import inside
from xlamig.flow.interp.frames import Function, Loop, functions_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.scopes import path_of


def state_left(m: State, loop: Loop) -> str:
    """Return the name of what a model gives and gets back in the next iteration, if nothing else uses it: a
    read of another result leaves it to be computed, from the first iteration on. "" where there is none."""
    fresh = replaced(loop.node)
    left = (
        name
        for name, call in _returned(loop.node.body)
        if name not in fresh and _may_be_on_device(m, name)
        if not _is_used(loop.node.body, name, call) and not _tests(loop.node, name)
        if _calls_model(m, call, name)
    )
    return next(left, "")


def _returned(block: ir.Block) -> Iterator[tuple[str, ir.Call]]:
    """Yield the names that a call in a block takes and that get its result, or a part of it."""
    pairs = [*assignments(block)]
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


def _is_used(block: ir.Block, name: str, call: ir.Call) -> bool:
    """Return whether anything in a block but the call, the assignments to a name and what it returns uses the
    name; a test for None reads nothing."""
    apart: list[ir.Node] = [call]
    for target, value in assignments(block):
        apart += (target, value) if name in names_in(target) else ()
    waiting: list[ir.Node] = [*block]
    for node in waiting:  # it grows
        if any(node is one for one in apart) or _asks_for_none(node) or _returns(node):
            continue
        if isinstance(node, ir.Name) and node.id == name:
            return True
        waiting.extend(ir.children(node))
    return False


def _returns(node: ir.Node) -> bool:
    """Return whether a statement returns values as they are: `return logits, state`."""
    if not isinstance(node, ir.Return) or node.value is None:
        return False
    parts = node.value.elements if isinstance(node.value, ir.Sequence) else (node.value,)
    return all(isinstance(part, ir.Name) for part in parts)


def _tests(node: ir.For | ir.While, name: str) -> bool:
    """Return whether the header of a loop uses a name."""
    return isinstance(node, ir.While) and name in names_in(node.test)


def _asks_for_none(node: ir.Node) -> bool:
    return isinstance(node, ir.Compare) and node.ops[0] in ("is", "is not")


def _may_be_on_device(m: State, name: str) -> bool:
    held = m.env.get(name)
    return held is not None and inside(held).kind in ("tensor", "unknown") and inside(held).place != "host"


def _calls_model(m: State, call: ir.Call, name: str) -> bool:
    """Return whether a call is one of a model, or of a function that gives the model what `name` holds, gets
    it back and returns it."""
    if not path_of(call.func):
        return False
    called = m.semantics.evaluate(call.func)
    if called.kind == "module":
        return True
    return called.kind == "function" and any(
        (_is_of_model(one) and not _lengthens(one, call, name)) or _hands_on(m, one, call, name)
        for one in functions_of(called)
    )


def _is_of_model(function: Function) -> bool:
    return function.bound is not None and function.bound.kind == "module"


def _takers(given: Mapping[str, ir.Expr], name: str) -> list[str]:
    """Return the parameters of a function that get what a name holds."""
    return [inner for inner, value in given.items() if isinstance(value, ir.Name) and value.id == name]


def _lengthens(function: Function, call: ir.Call, name: str) -> bool:
    """Return whether a method joins what a name holds with more of it, `ids = torch.cat((ids, new))`: the
    model itself gives back nothing that it got."""
    node = function.node
    if not isinstance(node, ir.FunctionDef):
        return False
    takers = _takers(arguments(call, node), name)
    joined = (
        (target, part.value)
        for target, value in assignments(node.body)
        if isinstance(value, ir.Call)
        for part in value.args[:1]
        if isinstance(part.value, ir.Sequence)
    )
    return any(set(takers) & names_in(target) & names_in(parts) for target, parts in joined)


def _hands_on(m: State, function: Function, call: ir.Call, name: str) -> bool:
    node = function.node
    if not isinstance(node, ir.FunctionDef) or function.bound is not None:
        return False
    given = arguments(call, node)
    takers = _takers(given, name)
    for inner, called in _returned(node.body):
        model = given.get(path_of(called.func))
        if inner in takers and model is not None and m.semantics.evaluate(model).kind == "module":
            return not _is_used(node.body, inner, called)
    return False
