"""From a judgement to the fix that its finding carries."""

from __future__ import annotations

from xlamig.findings import Fix
from xlamig.fix.context import FixContext, FixDeclined
from xlamig.fix.strategies import STRATEGIES
from xlamig.rulebook.judgement import Judgement

_CHOOSES = frozenset({"accelerator", "device-flag", "device-move", "device-selection"})
"""Strategies that give XLA to a program which runs on the CPU of a TPU host until then."""


def draft(judgement: Judgement, context: FixContext) -> Fix | None:
    """The first row that can be carried out; None when nothing can be written or shown."""
    held = ""
    for row in judgement.fixes:
        if row.style not in (None, context.settings.style):
            continue
        if not all(proof in judgement.fact.proofs for proof in row.requires):
            continue
        try:
            proposed = STRATEGIES[row.strategy](judgement.fact, row.options, context)
        except FixDeclined as why:
            held = held or str(why)
            continue
        if proposed is None:
            continue
        message = row.title or proposed.message or judgement.finding.help
        if row.applicability == "display" or not proposed.edits:
            return Fix(message, "display", held=held) if message else None
        if context.exposes and row.applicability == "safe" and row.strategy in _CHOOSES:
            message = f"{message}; on XLA the program then reaches {context.exposes[0]}, which raises"
            return Fix(message, "unsafe", proposed.edits, proposed.creates)
        return Fix(message, row.applicability, proposed.edits, proposed.creates)
    return None
