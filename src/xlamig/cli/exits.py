"""Exit codes: 0 clean, 1 something to do, 2 something went wrong."""

from __future__ import annotations

from dataclasses import replace

from xlamig.findings import SEVERITIES, UNPARSABLE, Finding, Report, Severity

CLEAN, FOUND, FAILED = 0, 1, 2


def of_report(report: Report, fail_on: Severity) -> int:
    if report.rule_errors:
        return FAILED
    return FOUND if any(fails(finding, fail_on) for finding in report.findings) else CLEAN


def fails(finding: Finding, fail_on: Severity) -> bool:
    return finding.code == UNPARSABLE or SEVERITIES.index(finding.severity) <= SEVERITIES.index(fail_on)


def failing(report: Report, fail_on: Severity) -> Report:
    """Return the report with the findings that fail the check alone."""
    files = (
        replace(file, findings=tuple(f for f in file.findings if fails(f, fail_on))) for file in report.files
    )
    return replace(report, files=tuple(files))
