"""Workflow commands that GitHub Actions shows as annotations of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig.findings import Finding, Report, Severity
from xlamig.report.context import Context, in_cell, one_line

_COMMAND: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, context: Context) -> Iterator[str]:
    for finding in report.findings:
        yield from (_annotation(place, context) for place in finding.places)
    for skipped in report.skipped:
        yield _about_file("warning", skipped.filename, f"Skipped: {skipped.reason}", context)
    for error in report.rule_errors:
        yield _about_file("error", error.filename, f"Rule {error.code} failed: {error.message}", context)


def _about_file(command: str, filename: str, message: str, context: Context) -> str:
    file = _property(context.in_project(filename))
    return f"::{command} title=xlamig,file={file}::{_data(one_line(message))}"


def _annotation(finding: Finding, context: Context) -> str:
    properties = {
        "title": f"xlamig ({finding.code})",
        "file": context.in_project(finding.filename),
        **_place(finding),
    }
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    message = f"{in_cell(finding)}{finding.code} {one_line(finding.message)}"
    if finding.help:
        message += f"\nhelp: {one_line(finding.help)}"
    return f"::{_COMMAND[finding.severity]} {listed}::{_data(message)}"


def _place(finding: Finding) -> dict[str, str]:
    """Rows of a cell are no rows of the notebook's file; columns count within one line only."""
    if finding.cell is not None:
        return {}
    start, end = finding.place.location, finding.place.end_location
    place = {"line": str(start.row), "endLine": str(end.row)}
    if start.row == end.row:
        place |= {"col": str(start.column), "endColumn": str(end.column)}
    return place


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return one_line(_data(text).replace(":", "%3A").replace(",", "%2C"))
