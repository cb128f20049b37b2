"""GitLab's Code Quality report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from xlamig.findings import Finding, Report, Severity
from xlamig.report.context import Context, in_cell, one_line

_SEVERITY: Mapping[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}


def render(report: Report, context: Context) -> Iterator[str]:
    taken: set[str] = set()
    yield json.dumps(
        [_issue(place, context, taken) for finding in report.findings for place in finding.places], indent=2
    )


def _issue(finding: Finding, context: Context, taken: set[str]) -> dict[str, Any]:
    start, end = finding.place.location, finding.place.end_location
    path = context.in_project(finding.filename)
    return {
        "type": "issue",
        "description": f"{in_cell(finding)}{finding.code} {one_line(finding.message)}",
        "check_name": finding.code,
        "fingerprint": _fingerprint(finding, path, taken),
        "severity": _SEVERITY[finding.severity],
        "location": {
            "path": path,
            "positions": {
                "begin": {"line": start.row, "column": start.column},
                "end": {"line": end.row, "column": end.column},
            },
        },
    }


def _fingerprint(finding: Finding, path: str, taken: set[str]) -> str:
    """GitLab drops all but one of the issues that share a fingerprint."""
    ordinal = 0
    while True:
        parts = (path, str(finding.cell), finding.fingerprint, str(ordinal))
        found = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        if found not in taken:
            taken.add(found)
            return found
        ordinal += 1
