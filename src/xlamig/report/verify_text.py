"""The checks of a port for people: each in a line, a failure with its line and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.observations import Check
from xlamig.report import trace_words as words
from xlamig.report.context import Context, one_line
from xlamig.report.trace_text import source_line


def render(checks: Sequence[Check], context: Context) -> Iterator[str]:
    for check in checks:
        mark = "ok  " if check.passed else context.paint("error", "FAIL")
        yield f"{mark}  {check.title}: {one_line(check.found)}"
        if not check.passed:
            yield from _failure_lines(check, context)


def _failure_lines(check: Check, context: Context) -> Iterator[str]:
    if check.spot:
        line = source_line(check.spot, context)
        yield f"      at {words.at(check.spot)}" + (f"  {line}" if line else "")
    if check.advice:
        rule = f"{check.rule}: " if check.rule else ""
        yield f"      {rule}{check.advice}"
