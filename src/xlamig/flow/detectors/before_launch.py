"""Questions for the number of devices that a program asks before it starts its processes, which a question to
XLA's runtime would keep from starting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_DEVICES = ("devices", "gpus")
_OWN_SCOPE = ir.FunctionDef | ir.ClassDef | ir.Lambda


def before_launch(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "launches" and "trainer": the program that asks how many devices there are starts the
    processes itself afterwards, or by a trainer; and "trainer-devices": the trainer gets the number."""
    if name not in table.names("program", "counts"):
        return {}
    found: dict[str, str] = {}
    roots = tuple(_roots(place, analysis))
    for proof, kind in (("launches", "launches"), ("trainer", "trainers")):
        if any(_calls(calls, kind, place, analysis) for calls in roots):
            found[proof] = "yes"
    if "trainer" in found and _counts_for_trainer(node, place, analysis):
        found["trainer-devices"] = "yes"
    return found


def _roots(place: CodeContext, analysis: Analysis) -> Iterator[tuple[ir.Call, ...]]:
    """Yield the calls that run in the same process, around a place or after it: those of its function, all of
    the module where it is in none, and what follows a call of its function in other functions."""
    function = place.scope.node
    yield tuple(n for n in ir.walk(function or analysis.module) if isinstance(n, ir.Call))
    if not isinstance(function, ir.FunctionDef):
        return
    others = [n for n in ir.walk(analysis.module) if isinstance(n, ir.FunctionDef) and n is not function]
    for other in (analysis.module, *others):
        calls = sorted(_own_calls(other), key=lambda call: call.start)
        if any(path_of(arg.value) == function.name for call in calls for arg in call.args):
            return  # it is what the processes run
        first = next((i for i, c in enumerate(calls) if path_of(c.func) == function.name), None)
        if first is not None:
            yield tuple(calls[first + 1 :])


def _own_calls(node: ir.Node) -> Iterator[ir.Call]:
    """Yield the calls below a node that no function or class in it holds."""
    for child in ir.children(node):
        if isinstance(child, ir.Call):
            yield child
        if not isinstance(child, _OWN_SCOPE):
            yield from _own_calls(child)


def _calls(calls: tuple[ir.Call, ...], kind: str, place: CodeContext, analysis: Analysis) -> bool:
    names = table.names("program", kind)
    return any(analysis.names.dotted(call.func, place.scope) in names for call in calls)


def _counts_for_trainer(node: ir.Call, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether a trainer gets a number as its devices, also by a variable that holds it alone."""
    root = place.scope.node or analysis.module
    held = {
        path_of(target)
        for n in ir.walk(root)
        if isinstance(n, ir.Assign) and n.value is node
        for target in n.targets
    }
    for call in ir.walk(root):
        if not isinstance(call, ir.Call) or not _calls((call,), "trainers", place, analysis):
            continue
        given = [arg.value for arg in call.args if arg.keyword in _DEVICES]
        if any(ir.encloses(value, node) or path_of(value) in held - {""} for value in given):
            return True
    return False
