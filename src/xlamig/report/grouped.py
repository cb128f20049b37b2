"""For people who work file by file: a heading per file, its findings in columns below it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import FileReport, Finding, Report
from xlamig.report.context import Context, one_line, with_severity
from xlamig.report.order import Block, files, rank


def blocks(report: Report, context: Context) -> Iterator[Block]:
    for file in files(report, context.sort):
        yield from _file(file, context)


def _file(file: FileReport, context: Context) -> Iterator[Block]:
    findings = sorted(file.findings, key=rank) if context.sort == "severity" else file.findings
    places = [_place(finding) for finding in findings]
    width = max(map(len, places))
    lines = [context.paint("strong", one_line(file.filename)) + ":"]
    for place, finding in zip(places, findings, strict=True):
        lines.append(f"  {context.paint('place', f'{place:<{width}}')}  {with_severity(finding, context)}")
        if finding is findings[-1]:
            lines.append("")
        yield finding, lines
        lines = []


def _place(finding: Finding) -> str:
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    at = finding.place.location
    return f"{cell}{at.row}:{at.column}"
