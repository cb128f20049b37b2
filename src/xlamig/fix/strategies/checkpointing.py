"""Renames an API where every call of it in the file passes what its successor insists on."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import reads
from xlamig.fix.strategies.rename import rename_api


def rename_where_passed(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """As `rename-api`. Option `passes`: keyword arguments that have to stand in each call with
    just this value, because another value, or none, means something else to the successor."""
    if not isinstance(fact, ApiUse):
        return None
    callee = context.text(fact.parts.get("callee", fact.span))
    if "." not in callee:
        called = {id(node.func): node for node in ir.walk(context.module) if isinstance(node, ir.Call)}
        calls = [called.get(id(read)) for read in reads(context.module, callee)]
    else:
        calls = [
            node
            for node in ir.walk(context.module)
            if isinstance(node, ir.Call) and (node.func.start, node.func.end) == fact.parts.get("callee")
        ]
    if not calls or not all(call is not None and _passes(call, options) for call in calls):
        return None
    return rename_api(fact, options, context)


def _passes(call: ir.Call, options: Options) -> bool:
    given = {a.keyword: a.value.value for a in call.args if isinstance(a.value, ir.Const)}
    return all(name in given and given[name] is value for name, value in options["passes"].items())
