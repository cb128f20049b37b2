"""Keeps a value of the step on the device until below the update, where its number is used."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.deferral import deferral_of
from xlamig.fix.imports import ensure_module, insert_beside
from xlamig.fix.scopes import statement_at


def read_where_used(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`score = out.mean().item()` keeps a copy of the value, and `score = score.item()` stands above the
    first use, in the branch that alone uses it."""
    if not isinstance(fact, HostRead) or fact.via != "item" or fact.boundary != "before":
        return None
    statement = statement_at(context.module, fact.span)
    found = deferral_of(context.module, statement) if statement else None
    if found is None or (found.read.start, found.read.end) != fact.span:
        return None
    func = found.read.func
    assert isinstance(func, ir.Attribute)
    torch = ensure_module(context, "torch", fact.span)
    if torch is None:
        return None
    number = f"{torch.name}.as_tensor({found.name})" if found.starts else found.name
    line = insert_beside(context, f"{found.name} = {number}.item()", found.use)
    if line is None:
        return None
    kept = context.edit(func.attr_start, func.end, "detach().clone")
    edits = (*torch.edits, kept, line) if found.starts else (kept, line)
    return Draft(f"Read `{found.name}` where it is used, below the update", edits)
