"""From a judgement to the fix that its finding carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from xlamig.facts import Fact
from xlamig.findings import Applicability, Finding, Fix
from xlamig.fix.context import FixContext
from xlamig.fix.strategies import STRATEGIES


class FixOption(Protocol):
    """A `[[fix]]` row that fits the target and its `when`."""

    @property
    def strategy(self) -> str: ...
    @property
    def applicability(self) -> Applicability: ...
    @property
    def style(self) -> str | None: ...
    @property
    def requires(self) -> tuple[str, ...]: ...
    @property
    def title(self) -> str | None: ...
    @property
    def options(self) -> Mapping[str, Any]: ...


class Judged(Protocol):
    @property
    def finding(self) -> Finding: ...
    @property
    def fact(self) -> Fact: ...
    @property
    def fixes(self) -> tuple[FixOption, ...]: ...


def draft(judgement: Judged, page: FixContext) -> Fix | None:
    """The first row that can be carried out; None when nothing can be written or shown."""
    for row in judgement.fixes:
        if row.style not in (None, page.settings.style):
            continue
        if not all(proof in judgement.fact.proofs for proof in row.requires):
            continue
        strategy = STRATEGIES.get(row.strategy)
        proposed = strategy(judgement.fact, row.options, page) if strategy else None
        if proposed is None:
            continue
        message = row.title or proposed.message or judgement.finding.help
        if row.applicability == "display" or not proposed.edits:
            return Fix(message, "display") if message else None
        return Fix(message, row.applicability, proposed.edits, proposed.creates)
    return None
