"""Adds a keyword argument to a call."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import path_to


def add_argument(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Options `argument` and `source`, its value as Python text, with `{torch}` for the module's name here.
    Not where the call has the argument, or may have it in `**kwargs`."""
    name, source = str(options["argument"]), str(options["source"])
    if not isinstance(fact, ApiUse) or not fact.complete or fact.argument(name) is not None:
        return None
    call = next((n for n in reversed(path_to(page.module, *fact.span)) if isinstance(n, ir.Call)), None)
    if call is None or (call.start, call.end) != fact.parts.get("call"):
        return None
    imports: tuple[Edit, ...] = ()
    if "{torch}" in source:
        torch = ensure_module(page, "torch", fact.span)
        if torch is None:
            return None
        source, imports = source.replace("{torch}", torch.name), torch.edits
    written = f"{name}={source}"
    if not call.args:
        if page.text((call.args_start, call.args_end)).strip():
            return None  # a comment
        return Draft(f"Add `{written}`", (*imports, page.edit(call.args_start, call.args_start, written)))
    last = call.args[-1]
    bare = page.source.text[last.start] != "("
    if isinstance(last.value, ir.Comprehension) and last.value.kind == "generator" and bare:
        return None  # it would need parentheses of its own
    return Draft(f"Add `{written}`", (*imports, page.edit(last.end, last.end, f", {written}")))
