"""Takes a code that suppresses nothing out of its comment."""

from __future__ import annotations

from xlamig.facts import Fact, ToolEvent
from xlamig.fix.context import Draft, FixContext, Options


def remove_suppression(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The fact's part and proof `removal` say what goes and what takes its place."""
    if not isinstance(fact, ToolEvent) or fact.event != "unused-suppression":
        return None
    cut, rest = fact.parts.get("removal"), fact.proofs.get("removal")
    if cut is None or rest is None:
        return None
    return Draft(f"Remove the unused suppression of {fact.subject}", (context.edit(*cut, rest),))
