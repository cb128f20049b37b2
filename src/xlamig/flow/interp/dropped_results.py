"""Loops that keep nothing of their model calls, as those that warm a device up do."""

from __future__ import annotations

import builtins
from collections.abc import Callable

from xlamig import ir
from xlamig.flow.interp.carried_names import names_in, read_after, replaced, targets_in
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.module_state import may_keep_state
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_HOLD_NO_TENSORS = frozenset({"bool", "device", "dtype", "none", "number", "text"})
_KEEP_NOTHING = frozenset(dir(builtins)) - {"setattr", "eval", "exec", "map", "filter"}
_OF_PROJECT = frozenset({"class", "function", "instance", "module"})


def drops_results(m: State, loop: Loop) -> bool:
    """Return whether nothing keeps what the iterations compute: XLA never computes a result that Python has
    dropped, so no graph grows. A result may go from one iteration to the next if nothing reads it after
    the loop; a model that keeps something itself, as BatchNorm does in training mode, does not count."""
    nodes = [node for statement in loop.node.body for node in ir.walk(statement)]
    calls = [node for node in nodes if isinstance(node, ir.Call)]
    forwards = {id(call): module for call in calls if (module := _module(m, call)) is not None}
    if not forwards or any(isinstance(node, ir.FunctionDef | ir.ClassDef | ir.Scoping) for node in nodes):
        return False
    bound = {name.id for target in targets_in([loop.node, *nodes]) for name in ir.target_names(target)}
    if not bound.isdisjoint(m.frame.scope.outer_names):
        return False
    held = frozenset(name for name in bound if _may_hold_tensor(m.env.get(name)))
    models = {path_of(call.func).partition(".")[0] for call in calls if id(call) in forwards}

    def has_result(node: ir.Node | None) -> bool:
        if node is None:
            return False
        return not held.isdisjoint(names_in(node)) or any(id(part) in forwards for part in ir.walk(node))

    def keeps(call: ir.Call) -> bool:
        if id(call) in forwards or path_of(call.func) in _KEEP_NOTHING or _is_of_tensor(m, call, held):
            return False
        if (m.names.dotted(call.func, m.frame.scope) or "").startswith("torch."):
            return False
        given = [arg.value for arg in call.args]
        return _may_run_project(m, call) or any(has_result(v) or models & names_in(v) for v in given)

    if any(_stores(node, has_result) for node in nodes) or any(map(keeps, calls)):
        return False
    carried = held & (bound - replaced(loop.node))
    if carried and (m.loops or not _is_unread_after(m, loop, carried)):
        return False
    return not any(
        may_keep_state(m, loop, call, forwards[id(call)], not held.isdisjoint(names_in(call)))
        for call in calls
        if id(call) in forwards
    )


def _module(m: State, call: ir.Call) -> AbstractValue | None:
    """Return the module that a call is of, by its name too; None if it is of something else."""
    path = path_of(call.func)
    thing = m.env.get(path)
    if thing is None and path.startswith("self.") and m.frame.owner is not None:
        attribute = path.removeprefix("self.")
        thing = next(
            (c.attributes[attribute] for c in m.frame.owner.lineage() if attribute in c.attributes), None
        )
    if thing is None or thing.kind == "unknown":
        named = table.name_like("module").search(path.rpartition(".")[2]) is not None
        return AbstractValue("module") if named and call.args else None
    return thing if thing.kind == "module" else None


def _stores(node: ir.Node, has_result: Callable[[ir.Node | None], bool]) -> bool:
    """Return whether a statement or expression hands a result on: to an attribute, an element, a caller."""
    match node:
        case ir.Assign(targets=targets, value=value):
            return not all(map(_binds_names, targets)) and has_result(value)
        case ir.AnnAssign(target=target, value=value):
            return not _binds_names(target) and has_result(value)
        case ir.AugAssign(value=value) | ir.Return(value=value) | ir.Yield(value=value):
            return has_result(value)
        case ir.Raise() | ir.Lambda() | ir.Await():
            return has_result(node)
    return False


def _binds_names(target: ir.Expr) -> bool:
    """Return whether all that a target binds are names."""
    parts = target.elements if isinstance(target, ir.Sequence) else ()
    return isinstance(target, ir.Name) or (bool(parts) and all(map(_binds_names, parts)))


def _may_hold_tensor(thing: AbstractValue | None) -> bool:
    return thing is None or thing.kind not in _HOLD_NO_TENSORS


def _is_of_tensor(m: State, call: ir.Call, held: frozenset[str]) -> bool:
    """Return whether a call is of a method of a tensor that the iteration computes: `out.sum()`."""
    match call.func:
        case ir.Attribute(value=ir.Name(id=name)) if name in held:
            thing = m.env.get(name)
            return thing is not None and thing.kind == "tensor"
        case ir.Attribute(value=ir.Call() | ir.Binary() | ir.Subscript()):
            return True
    return False


def _may_run_project(m: State, call: ir.Call) -> bool:
    """Return whether a call may run code of the project, which may keep anything."""
    path = path_of(call.func)
    owner = path.rpartition(".")[0]
    things = (m.env.get(path), m.env.get(owner))
    if any(thing is not None and thing.kind in _OF_PROJECT for thing in things) or owner.startswith("self"):
        return True
    return m.names.export(call.func, m.frame.scope) is not None


def _is_unread_after(m: State, loop: Loop, names: frozenset[str]) -> bool:
    """Return whether a function reads none of its own names after a loop."""
    function = m.frame.scope.node
    if not isinstance(function, ir.FunctionDef) or names & {param.name for param in function.params}:
        return False
    return names.isdisjoint(read_after(function, loop.node.end))
