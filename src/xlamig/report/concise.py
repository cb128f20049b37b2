"""One line per finding, made for grep: `path:row:column: error XLA005 [*] message`."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import Report
from xlamig.report.context import Context, where, with_severity
from xlamig.report.order import Block, in_order


def blocks(report: Report, context: Context) -> Iterator[Block]:
    for finding in in_order(report, context.sort):
        yield finding, [f"{context.paint('place', where(finding))}: {with_severity(finding, context)}"]
