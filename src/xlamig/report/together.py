"""One job, one finding: what one edit repairs is reported once, with all its places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from xlamig.findings import SEVERITIES, Finding, Level, Report

_LEVELS = get_args(Level)


def together(report: Report) -> Report:
    """Return the report with one finding for each job; the others of the job are in its `also`."""
    jobs: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.job:
            jobs.setdefault(finding.job, []).append(finding)
    leaders = {id(first): found for found in jobs.values() if (first := _leader(found))}
    members = {id(finding) for found in jobs.values() for finding in found} - leaders.keys()

    def folded(finding: Finding) -> Finding:
        others = [other for other in leaders.get(id(finding), ()) if other is not finding]
        return replace(finding, also=tuple(replace(o, aside="job") for o in others)) if others else finding

    files = (
        replace(file, findings=tuple(folded(f) for f in file.findings if id(f) not in members))
        for file in report.files
    )
    return replace(report, files=tuple(files))


def _leader(findings: Sequence[Finding]) -> Finding:
    """Return the most serious one, a kernel or image before what belongs to it."""
    return min(
        findings,
        key=lambda f: (
            SEVERITIES.index(f.severity),
            not f.code.startswith(("XLA6", "XLA910")),
            -_LEVELS.index(f.effort.level),
        ),
    )
