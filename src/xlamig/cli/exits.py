"""Exit codes: 0 clean, 1 something to do, 2 something went wrong."""

from __future__ import annotations

from xlamig.findings import SEVERITIES, Report, Severity

CLEAN, FOUND, FAILED = 0, 1, 2
UNPARSABLE = "XLA000"


def of_report(report: Report, fail_on: Severity) -> int:
    if report.rule_errors:
        return FAILED
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    found = any(finding.severity in failing or finding.code == UNPARSABLE for finding in report.findings)
    return FOUND if found else CLEAN
