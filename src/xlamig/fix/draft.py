"""From a judgement to the fix that its finding carries."""

from __future__ import annotations

from xlamig.facts import ApiUse, ChangingConstant, ChangingPath, DynamicShape, Fact, HostRead
from xlamig.findings import Fix
from xlamig.fix.context import FixContext, FixDeclined
from xlamig.fix.host_functions import host_spans
from xlamig.fix.strategies import STRATEGIES
from xlamig.rulebook.judgement import Judgement

_OF_GRAPHS = (ChangingConstant, ChangingPath, DynamicShape, HostRead)
_CHOOSES = frozenset({"accelerator", "adopt-device", "device-flag", "device-move", "device-selection"})
"""Strategies that give XLA to a program which runs on the CPU of a TPU host until then."""


def draft(judgement: Judgement, context: FixContext) -> Fix | None:
    """The first row that can be carried out; None when nothing can be written or shown."""
    held = ""
    if isinstance(judgement.fact, _OF_GRAPHS) and _runs_on_host(judgement.fact, context):
        return None
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
        doubt = _doubt(judgement.fact, row.strategy, context) if row.applicability == "safe" else ""
        if doubt:
            return Fix(f"{message}; {doubt}", "unsafe", proposed.edits, proposed.creates)
        covers = proposed.covers
        return Fix(message, row.applicability, proposed.edits, proposed.creates, covers=covers)
    return None


def _runs_on_host(fact: Fact, context: FixContext) -> bool:
    """Return whether no graph holds the place of a fact: its function runs on the host."""
    return any(start < fact.span[0] < end for start, end in host_spans(context.module))


def _doubt(fact: Fact, strategy: str, context: FixContext) -> str:
    """Return what may break a fix that is safe by itself, "" if nothing does."""
    if strategy in _CHOOSES and context.exposes:
        return f"on XLA the program then reaches {context.exposes[0]}, which raises"
    if strategy in _CHOOSES and context.unread:
        return f"`{context.unread}` was not checked, and may raise on XLA"
    if context.unread and isinstance(fact, ApiUse) and fact.name.startswith("unknown."):
        return f"`{context.unread}` was not checked, and may define another `{fact.name.partition('.')[2]}`"
    return ""
