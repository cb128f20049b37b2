"""The figures every summary shows."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.findings import Report
from xlamig.report.context import is_fixable


@dataclass(frozen=True, slots=True)
class Counts:
    """`files` were checked, not skipped; `unsafe_fixable` need `--unsafe-fixes` and come on top
    of `fixable`."""

    files: int
    findings: int
    errors: int
    warnings: int
    infos: int
    fixable: int
    unsafe_fixable: int
    suppressed: int
    hidden: int  # by a baseline or --diff-base
    tests: int  # in tests and benchmarks, not shown
    converters: int  # in converters and exporters, not shown
    unused: int  # in copies of libraries and in unused modules, not shown
    no_action: int  # that ask for no change, not shown


def count(report: Report) -> Counts:
    findings = report.findings
    aside = [finding.aside for finding in report.aside]
    severities = [finding.severity for finding in findings]
    safe = sum(is_fixable(finding) for finding in findings)
    return Counts(
        files=sum(not file.skipped for file in report.files),
        findings=len(findings),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        infos=severities.count("info"),
        fixable=safe,
        unsafe_fixable=sum(is_fixable(finding, unsafe_fixes=True) for finding in findings) - safe,
        suppressed=sum(file.suppressed for file in report.files),
        hidden=report.hidden,
        tests=aside.count("tests"),
        converters=aside.count("converters"),
        unused=aside.count("unused"),
        no_action=aside.count("no-action"),
    )
