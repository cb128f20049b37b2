"""One line per finding, made for grep: `path:row:column: XLA005 [*] message`."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import Report
from xlamig.report.context import Context, headline, where


def render(report: Report, context: Context) -> Iterator[str]:
    for finding in report.findings:
        yield f"{context.paint('place', where(finding))}: {headline(finding, context)}"
