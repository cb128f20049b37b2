"""Functions that users call in every step, though nothing in sight does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.kinds import is_optimizer_or_scaler_name
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def runs_each_step(node: ir.FunctionDef) -> bool:
    """Return whether a method called `step` takes a tensor, or counts how often it ran."""
    for param in node.params[1:]:
        if param.annotation is not None and any(map(_is_tensor_type, ir.walk(param.annotation))):
            return True
    counted = (s for s in node.body if isinstance(s, ir.AugAssign) and path_of(s.target).startswith("self."))
    return len(node.params) > 1 and any(isinstance(s.value, ir.Const) for s in counted)


def makes_loader(node: ir.FunctionDef | None) -> bool:
    """Return whether a method makes a loader, as a `test_step` does that evaluates a whole data set: it holds
    the loop of steps, and is none itself."""
    calls = (part for part in ir.walk(node) if isinstance(part, ir.Call)) if node is not None else ()
    return any(path_of(call.func).rpartition(".")[2] == "DataLoader" for call in calls)


def performs_update(node: ir.FunctionDef, text: str) -> bool:
    """Return whether a function is one step of training: outside of loops it runs a backward pass and a step
    of an optimizer that its object or its caller made."""
    if ".backward" not in text[node.start : node.end]:
        return False
    given = {param.name for param in node.params}
    backward = stepped = False
    for call in straight_calls(node.body):
        receiver, _, name = path_of(call.func).rpartition(".")
        if isinstance(call.func, ir.Attribute) and call.func.attr == "backward":
            backward = True
        elif name == "step" and receiver.partition(".")[0] in given:
            stepped |= is_optimizer_or_scaler_name(receiver.rpartition(".")[2])
    return backward and stepped


def straight_calls(body: Iterable[ir.Node]) -> Iterator[ir.Call]:
    """Yield the calls of a body outside of its loops and inner functions."""
    for node in body:
        if isinstance(node, ir.Call):
            yield node
        if not isinstance(node, ir.For | ir.While | ir.FunctionDef | ir.ClassDef | ir.Lambda):
            yield from straight_calls(ir.children(node))


def _is_tensor_type(node: ir.Node) -> bool:
    named = path_of(node) if isinstance(node, ir.Name | ir.Attribute) else ""
    return table.name_like("tensor-annotation").search(named) is not None
