"""Adds keyword arguments to a call."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import path_to
from xlamig.fix.template import fill


def add_argument(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options `argument` and `source`, its value as a template (see fix/template.py), or `arguments`, a
    table of several. Not where the call has one of them, or may have it in `**kwargs`."""
    wanted: Mapping[str, str] = options.get("arguments") or {options["argument"]: options["source"]}
    if not isinstance(fact, ApiUse) or not fact.complete or any(map(fact.argument, wanted)):
        return None
    call = next((n for n in reversed(path_to(context.module, *fact.span)) if isinstance(n, ir.Call)), None)
    if call is None or (call.start, call.end) != fact.parts.get("call"):
        return None
    template = ", ".join(f"{name}={source}" for name, source in wanted.items())
    filled = fill(template, context, fact, fact.span)
    if filled is None:
        return None
    title = f"Add `{filled.text}`"
    if not call.args:
        if context.text((call.args_start, call.args_end)).strip():
            return None  # a comment
        added = context.edit(call.args_start, call.args_start, filled.text)
        return Draft(title, (*filled.edits, added), filled.creates)
    last = call.args[-1]
    bare = context.source.text[last.start] != "("
    if isinstance(last.value, ir.Comprehension) and last.value.kind == "generator" and bare:
        return None  # it would need parentheses of its own
    return Draft(title, (*filled.edits, context.edit(last.end, last.end, f", {filled.text}")), filled.creates)
