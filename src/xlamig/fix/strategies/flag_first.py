"""Tests a flag before the tensor: `if bad.any() and DEBUG:` becomes `if DEBUG and bad.any():`."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.names import last_name
from xlamig.fix.scopes import bindings, statement_at

_PURE = {"all", "any", "isfinite", "isinf", "isnan", "item", "max", "mean", "min", "sum"}
_EFFECTS = (ir.Await, ir.Yield, ir.Walrus)
_AND = re.compile(r"\s*\band\s+$")


def flag_first(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The flag is the last part of the test of an `if`, and a name of the module that is set once. Without
    it what stands before is not computed, which nothing notices: it only reads tensors."""
    statement = statement_at(context.module, fact.span)
    if not isinstance(fact, HostRead) or not isinstance(statement, ir.If):
        return None
    match statement.test:
        case ir.Bool(op="and", values=(*before, ir.Name(id=name) as flag)) as test if before:
            pass
        case _:
            return None
    set_by = bindings(context.module, name)
    known = len(set_by) == 1 and any(
        set_by[0] is one and one.end < statement.start for one in context.module.body
    )
    joint = _AND.search(context.text((test.start, flag.start)))
    at = statement.start + len("if ")
    if not known or joint is None or context.text((statement.start, at)) != "if ":
        return None
    if not all(_only_reads(node) for part in before for node in ir.walk(part)):
        return None
    first = context.edit(at, at, f"{name} and ")
    last = context.edit(test.start + joint.start(), flag.end, "")
    return Draft(f"Test `{name}` first", (first, last))


def _only_reads(node: ir.Node) -> bool:
    return last_name(node.func) in _PURE if isinstance(node, ir.Call) else not isinstance(node, _EFFECTS)
