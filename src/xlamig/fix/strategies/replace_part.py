"""Writes other text in the place of a part of a fact: a value of YAML, a requirement, a slice's bound."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig.facts import Fact
from xlamig.fix.context import Draft, FixContext, Options


def replace_part(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`part` names it, without one it is the fact's whole place; `text` takes its place, or what the
    row says under `replace`, or the text of the proof named by `proof`."""
    part = options.get("part")
    span = fact.span if part is None else fact.parts.get(str(part))
    row = options.get("row")
    text = options.get("text") or (row.get("replace") if isinstance(row, Mapping) else None)
    if text is None:
        text = fact.proofs.get(str(options.get("proof")))
    if span is None or not isinstance(text, str) or context.text(span) == text:
        return None
    return Draft(f"Replace `{context.text(span)}` by `{text}`", (context.edit(*span, text),))
