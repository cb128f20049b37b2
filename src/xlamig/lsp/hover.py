"""The hover text of a finding: its reasons, its rule's page and how to see it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import Finding
from xlamig.rulebook.rule import Rule

_SECTIONS = ("What it does", "Why it matters on a TPU", "Use instead", "How to see it yourself", "Fix safety")


def hover_text(finding: Finding, rule: Rule | None) -> str:
    """Markdown."""
    return "\n\n".join((*_about(finding), *(_page(rule) if rule else ())))


def _about(finding: Finding) -> Iterator[str]:
    yield f"**[{finding.code}]({finding.url}) {finding.name}**: {finding.severity}, {finding.confidence}"
    yield finding.message
    if finding.help:
        yield finding.help
    if finding.reasons:
        yield "\n".join(f"- {reason.message}" for reason in finding.reasons)
    if finding.observed:
        yield f"Observed: {finding.observed}"
    if finding.fix:
        held = f": {finding.fix.held}" if finding.fix.held else ""
        yield f"Fix ({finding.fix.applicability}): {finding.fix.message}{held}"


def _page(rule: Rule) -> Iterator[str]:
    yield "---"
    for title in _SECTIONS:
        text = rule.sections.get(title, "").strip()
        if text:
            yield f"**{title}**"
            yield text
