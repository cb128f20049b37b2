"""Seeds XLA beside torch."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import line_start, share_line
from xlamig.fix.insertion import insert_after
from xlamig.fix.scopes import block_of
from xlamig.fix.xla_calls import xla_statement
from xlamig.knowledge import helpers

_PURE = (ir.Name, ir.Attribute, ir.Const, ir.Binary, ir.Unary, ir.Subscript)  # may be evaluated twice
_LAUNCHER = re.compile(r"spawn|launch|Process$")


def seed_xla(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Writes `torch_xla.manual_seed(...)` below a seeding statement, in the process that uses the
    device: not in a file that starts others, unless a device is in scope."""
    statement = _statement(fact, context)
    if statement is None or not isinstance(fact, ApiUse):
        return None
    if "device-in-scope" not in fact.proofs and any(map(_launches, ir.walk(context.module))):
        return None
    seed = context.text(fact.args[0].value_span)
    call = xla_statement(context, fact, helpers.SEED, seed, (statement.end, statement.end))
    inserted = insert_after(context, statement, call.lines) if call else None
    if call is None or inserted is None:
        return None
    return Draft(f"Add `torch_xla.manual_seed({seed})`", (*call.edits, inserted), call.creates)


def _launches(node: ir.Node) -> bool:
    func = node.func if isinstance(node, ir.Call) else None
    name = func.attr if isinstance(func, ir.Attribute) else getattr(func, "id", "")
    return _LAUNCHER.search(name) is not None


def _statement(fact: Fact, context: FixContext) -> ir.ExprStmt | None:
    """The seeding call as a statement with lines of its own and one plain argument."""
    for node in ir.walk(context.module):
        if not isinstance(node, ir.ExprStmt) or (node.start, node.end) != fact.statement:
            continue
        call, block, text = node.value, block_of(context.module, node), context.source.text
        if not isinstance(call, ir.Call) or (call.start, call.end) != fact.parts.get("call"):
            return None
        if len(call.args) != 1 or call.args[0].star or block is None:
            return None
        value = call.args[0].value
        if isinstance(fact, ApiUse) and "seed_everything" in fact.name and _may_be_none(value, fact, context):
            return None
        pure = all(isinstance(n, _PURE) for n in ir.walk(value)) and "\n" not in context.text(
            (value.start, value.end)
        )
        index = next(i for i, s in enumerate(block) if s is node)
        shared = index + 1 < len(block) and share_line(text, node.end, block[index + 1].start)
        own_line = not text[line_start(text, node.start) : node.start].strip()
        return node if pure and own_line and not shared else None
    return None


def _may_be_none(value: ir.Expr, fact: Fact, context: FixContext) -> bool:
    """Return whether a seed is None, or a parameter around a place that is None by default: Lightning then
    chooses a seed, and torch_xla raises."""
    if isinstance(value, ir.Const):
        return value.value is None
    functions = (node for node in ir.walk(context.module) if isinstance(node, ir.FunctionDef))
    return isinstance(value, ir.Name) and any(
        param.name == value.id and isinstance(param.default, ir.Const) and param.default.value is None
        for function in functions
        if function.start <= fact.span[0] < function.end
        for param in function.params
    )
