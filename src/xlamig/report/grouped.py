"""For people who work file by file: a heading per file, its findings in columns below it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import FileReport, Finding, Report
from xlamig.report.context import Context, headline, one_line


def render(report: Report, context: Context) -> Iterator[str]:
    for file in report.files:
        if file.findings:
            yield from _file(file, context)
            yield ""


def _file(file: FileReport, context: Context) -> Iterator[str]:
    yield context.paint("strong", one_line(file.filename)) + ":"
    places = [_place(finding) for finding in file.findings]
    width = max(map(len, places))
    for place, finding in zip(places, file.findings, strict=True):
        yield f"  {context.paint('place', f'{place:<{width}}')}  {headline(finding, context)}"


def _place(finding: Finding) -> str:
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    at = finding.place.location
    return f"{cell}{at.row}:{at.column}"
