"""For people: every finding with its source, reasons, help and fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.findings import Finding, Frequency, Mechanism, Reason, Report
from xlamig.report.context import Context, headline, one_line, where
from xlamig.report.numbers import number
from xlamig.report.order import Block, in_order
from xlamig.report.preview import preview
from xlamig.report.snippet import snippet

_OFTEN: dict[Frequency, str] = {
    "once": "once per run",
    "epoch": "every epoch",
    "interval": "every few steps",
    "step": "every step",
    "unknown": "",
}

_MOST_FILES = 5
_MOST_HELP = 3  # of places that need something else
_HARM: dict[Mechanism, str] = {
    "error": "fails",
    "wrong-result": "silently wrong",
    "recompile": "recompiles",
    "host-sync": "the host waits for the device",
    "cpu-fallback": "falls back to the CPU",
    "slow": "slow",
    "api-surface": "needs a different API",
    "no-op": "has no effect",
}


def blocks(report: Report, context: Context) -> Iterator[Block]:
    for finding in in_order(report, context.sort):
        yield finding, [*_finding(finding, context), ""]


def _finding(finding: Finding, context: Context) -> Iterator[str]:
    paint = context.paint
    yield headline(finding, context)
    text = context.text_of(finding.filename)
    margin = " " * len(str(finding.place.end_location.row))
    yield f"{margin}{paint('gutter', '-->')} {paint('place', where(finding))}"
    if text is not None:
        yield from snippet(text, finding.place, context)
    for label, note in _notes(finding, context):
        yield f"{margin} {paint('gutter', '=')} {paint('strong', f'{label}:')} {note}"
    if finding.fix:
        yield from preview(finding.fix, finding.filename, text, margin, context)


def _notes(finding: Finding, context: Context) -> Iterator[tuple[str, str]]:
    hint = finding.mechanism == "api-surface" and finding.severity == "info"
    harm = "may need a different API" if hint else _HARM[finding.mechanism]
    how = (harm, _OFTEN[finding.frequency], finding.confidence)
    yield finding.severity, ", ".join(word for word in how if word)
    for reason in finding.reasons:
        yield "because", _reason(reason, finding)
    if finding.also:
        yield "also", _also(finding, context)
    if finding.observed:
        yield "observed", one_line(finding.observed)
    fix = finding.fix
    written = fix is not None and fix.applicability != "display"
    if advice := finding.help or (fix.message if fix and not written else ""):
        yield "help", one_line(advice)
    yield from (("help", text) for text in _other_help(finding, context))
    if fix and written:
        yield "fix", f"{one_line(fix.message)} ({fix.applicability})"


def _also(finding: Finding, context: Context) -> str:
    """Return the other places of the job: `3 more places: lines 4, 5 (XLA205), model.py:7`."""
    places = _places(finding.also, finding)
    most = len(places) if context.every else _MOST_FILES
    left = len(places) - most
    shown = ", ".join(places[:most])
    shown += f" and {number(left, 'more file')}, which --all names" if left > 0 else ""
    return f"{number(len(finding.also), 'more place')}: {shown}"


def _other_help(finding: Finding, context: Context) -> Iterator[str]:
    """Yield what to do at other places of the job that need something else: `line 5 (XLA205): Use ...`."""
    groups: dict[str, list[Finding]] = {}
    for other in finding.also:
        if other.severity != "info" and other.help and other.help != finding.help:
            groups.setdefault(other.help, []).append(other)
    for advice in list(groups)[: None if context.every else _MOST_HELP]:
        yield f"{', '.join(_places(groups[advice], finding)[:_MOST_FILES])}: {one_line(advice)}"


def _places(others: Sequence[Finding], finding: Finding) -> list[str]:
    """Return the places of other findings, those in the file of `finding` first."""
    rows: dict[str, list[str]] = {}
    for other in others:
        row = str(other.place.location.row)
        place = row if other.code == finding.code else f"{row} ({other.code})"
        found = rows.setdefault(other.filename, [])
        if place not in found:
            found.append(place)
    places = list(_lines(rows.pop(finding.filename, []), str(finding.place.location.row)))
    return places + [f"{one_line(name)}:{','.join(found)}" for name, found in rows.items()]


def _lines(rows: list[str], shown: str) -> Iterator[str]:
    """Yield the rows of the file itself in words; `shown` is the row above them."""
    if shown in rows:
        yield "this line"
    others = [row for row in rows if row != shown]
    if others:
        yield f"line{'s' * (len(others) > 1)} {', '.join(others)}"


def _reason(reason: Reason, finding: Finding) -> str:
    """The reason with its place, unless the frame already shows that line."""
    message = one_line(reason.message)
    if reason.place is None:
        return message
    row = reason.place.location.row
    if reason.filename != finding.filename:
        return f"{message}  {one_line(reason.filename)}:{row}"
    shown = finding.place.location.row <= row <= finding.place.end_location.row
    return message if shown or f"line {row}" in message else f"{message} (line {row})"
