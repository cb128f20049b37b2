"""The training and serving stacks that a report speaks of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from xlamig.effort.model import STACKS
from xlamig.effort.plan import Stack
from xlamig.findings import SEVERITIES, Finding, Report


def stacks(report: Report) -> tuple[Stack, ...]:
    """Each once, those without a path first."""
    counts = Counter(finding.code for finding in report.findings)
    found = (finding for finding in report.findings if finding.effort.group in STACKS)
    ranked = sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))
    together = {finding.message: finding for finding in reversed(ranked)}
    return tuple(
        Stack(finding.message, finding.help, tuple(_concerns(finding, counts)))
        for finding in reversed(together.values())
    )


def _concerns(finding: Finding, counts: Counter[str]) -> Iterator[str]:
    for concern in finding.concerns:
        codes = [f"{counts[code]} x {code}" for code in concern.codes if counts[code]]
        if codes:
            yield f"{concern.text} ({', '.join(codes)})"
