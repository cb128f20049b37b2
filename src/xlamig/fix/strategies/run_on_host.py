"""`@run_on_host` above a function whose shapes depend on values: it runs on copies on the host."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.helper import helper_function
from xlamig.fix.host_code import host_code
from xlamig.fix.host_functions import covered
from xlamig.fix.imports import insert_beside
from xlamig.fix.names import last_name
from xlamig.fix.scopes import path_to
from xlamig.knowledge import helpers

_Owned = tuple[ir.FunctionDef, ir.ClassDef | None]


def run_on_host(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The function computes on nothing but its arguments, and returns a result."""
    if context.settings.target != "torch_xla" or context.settings.style == "native":
        return None
    found = _around(context.module, fact.span)
    if found is None:
        return None
    if why := _reason_against(found, context):
        raise FixDeclined(f"`{found[0].name}` cannot run on the host alone: {why}")
    seen = {found[0]}
    while (outer := _only_caller(found, context)) is not None and outer[0] not in seen:
        found = outer
        seen.add(found[0])
    function, _ = found
    helper = helper_function(context, helpers.HOST, (function.start, function.end))
    if helper is None:
        return None
    line = insert_beside(context, f"@{helper.name}", function)
    if line is None:
        return None
    message = f"Run `{function.name}` on the host, on copies of its tensors"
    return Draft(message, (*helper.edits, line), helper.creates, covered(seen, context.module))


def _around(module: ir.Module, span: tuple[int, int]) -> _Owned | None:
    """Return the innermost function around a place, and the class that it is a method of."""
    path = path_to(module, *span)
    for outer, node in zip(reversed(path[:-1]), reversed(path), strict=False):
        if isinstance(node, ir.FunctionDef):
            if isinstance(outer, ir.ClassDef):
                return node, outer
            return (node, None) if isinstance(outer, ir.Module) else None
    return None


def _reason_against(found: _Owned, context: FixContext) -> str:
    function, _ = found
    results = [n.value for n in ir.walk(function) if isinstance(n, ir.Return) and n.value is not None]
    if not results:
        return "it returns nothing"
    if function.name.startswith("__") and function.name != "__call__":
        return "Python calls it"
    return host_code(context.module).reason_against(*found)


def _only_caller(found: _Owned, context: FixContext) -> _Owned | None:
    """Return the function that alone calls another one, if it may run on the host itself."""
    function, _ = found
    callers: dict[int, _Owned] = {}
    for node in ir.walk(context.module):
        if isinstance(node, ir.Name | ir.Attribute) and last_name(node) == function.name:
            around = _around(context.module, (node.start, node.end))
            if around is None:
                return None
            callers[id(around[0])] = around
    if len(callers) != 1:
        return None
    (caller,) = callers.values()
    return caller if caller[0] is not function and not _reason_against(caller, context) else None
