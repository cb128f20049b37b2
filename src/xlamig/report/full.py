"""For people: every finding with its source, reasons, help and fix."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import Finding, Frequency, Reason, Report
from xlamig.report.context import Context, headline, one_line, where
from xlamig.report.frame import frame
from xlamig.report.preview import preview

_OFTEN: dict[Frequency, str] = {
    "once": "once per run",
    "epoch": "every epoch",
    "interval": "every few steps",
    "step": "every step",
    "unknown": "",
}


def render(report: Report, context: Context) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding, context)
        yield ""


def _finding(finding: Finding, context: Context) -> Iterator[str]:
    paint = context.paint
    yield headline(finding, context)
    text = context.text_of(finding.filename)
    margin = " " * len(str(finding.place.end_location.row))
    yield f"{margin}{paint('gutter', '-->')} {paint('place', where(finding))}"
    if text is not None:
        yield from frame(text, finding.place, context)
    for label, note in _notes(finding):
        yield f"{margin} {paint('gutter', '=')} {paint('strong', f'{label}:')} {note}"
    if finding.fix:
        yield from preview(finding.fix, finding.filename, text, margin, context)


def _notes(finding: Finding) -> Iterator[tuple[str, str]]:
    mechanism = finding.mechanism if finding.mechanism != finding.severity else ""
    how = (mechanism, _OFTEN[finding.frequency], finding.confidence)
    yield finding.severity, ", ".join(word for word in how if word)
    for reason in finding.reasons:
        yield "because", _reason(reason)
    if finding.help:
        yield "help", one_line(finding.help)
    if finding.fix:
        yield "fix", f"{one_line(finding.fix.message)} ({finding.fix.applicability})"


def _reason(reason: Reason) -> str:
    if reason.place is None:
        return one_line(reason.message)
    return f"{one_line(reason.message)}  {one_line(reason.filename)}:{reason.place.location.row}"
