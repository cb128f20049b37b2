"""Summarise a check on stderr."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.effort.plan import Hours
from xlamig.findings import Report
from xlamig.report.context import one_line
from xlamig.report.counts import Counts, count
from xlamig.report.numbers import between, figure, number


def summary(
    report: Report, unsafe_fixes: bool = False, fixed: int = 0, unsure: bool = False
) -> Iterator[str]:
    """Skipped files, failed rules, then the totals. `fixed` findings are gone from the report;
    `unsure` adds how many were left out because they are less sure."""
    yield from troubles(report)
    counts = count(report)
    files = number(counts.files, "file")
    if fixed:
        total = number(counts.findings + fixed, "problem")
        yield f"Found {total} in {files} ({fixed} fixed, {counts.findings} remaining)."
    elif counts.findings:
        yield f"Found {number(counts.findings, 'problem')} ({_severities(counts)}) in {files}."
    else:
        yield f"No problems found in {files}."
    if report.hidden:
        yield f"{number(report.hidden, 'problem')} not shown: known or on unchanged lines."
    yield from _aside(counts)
    if unsure and (less := sum(file.unsure for file in report.files)):
        yield f"{less} of lower confidence not shown; --confidence possible shows them."
    if hint := _fixable(counts, unsafe_fixes):
        yield hint


def troubles(report: Report) -> Iterator[str]:
    for skipped in report.skipped:
        yield f"Skipped {one_line(skipped.filename)}: {one_line(skipped.reason)}"
    for file in report.partly:
        names = ", ".join(file.unfollowed)
        yield f"Partly analysed {one_line(file.filename)}: too many calls to follow, of {names}"
    for error in report.rule_errors:
        yield f"Rule {error.code} failed on {one_line(error.filename)}: {one_line(error.message)}"


def effort_line(hours: Hours, hours_per_day: float, unread: int = 0) -> str:
    """`Rough estimate: 9-26 h, likely 15 h (1.1-3.2 person-days) ...`; `unread` files are not in it."""
    left = f" without {number(unread, 'file')} that could not be read" if unread else ""
    return f"Rough estimate: {effort(hours, hours_per_day)}{left} (not calibrated); see `xlamig plan`."


def over_budget(hours: Hours, most: float) -> str:
    span = between(hours.low, hours.high)
    likely = figure(hours.likely)
    return f"The estimate is {span} h, likely {likely} h: more than the {most:g} h of --max-effort."


def effort(hours: Hours, hours_per_day: float) -> str:
    if not hours.likely:
        return "0 h"
    text = f"{between(hours.low, hours.high)} h, likely {figure(hours.likely)} h"
    text += days(hours.low, hours.high, hours_per_day)
    if figure(hours.after_fix) != figure(hours.likely):
        text += f", {figure(hours.after_fix)} h after --fix"
    return text


def days(low: float, high: float, hours_per_day: float) -> str:
    """` (1-2.1 person-days)`, where it may take a day."""
    span = between(low / hours_per_day, high / hours_per_day)
    return f" ({span} person-days)" if high >= hours_per_day else ""


def _aside(counts: Counts) -> Iterator[str]:
    """Yield what is counted and not shown, with the option that shows it."""
    if counts.tests:
        yield f"Tests and benchmarks: {number(counts.tests, 'finding')}, --include-tests shows them."
    if counts.converters:
        found = number(counts.converters, "finding")
        yield f"Converters and exporters: {found}, --include-converters shows them."
    if counts.unused:
        found = number(counts.unused, "finding")
        yield f"Copies of libraries and unused modules: {found}, --include-unused shows them."
    if counts.no_action:
        yield f"No change needed: {number(counts.no_action, 'finding')}, --include-no-action shows them."


def _severities(counts: Counts) -> str:
    parts = (counts.errors, "error"), (counts.warnings, "warning"), (counts.infos, "info")
    return ", ".join(number(found, noun) for found, noun in parts if found)


def _fixable(counts: Counts, unsafe_fixes: bool) -> str:
    if unsafe_fixes:
        fixable = counts.fixable + counts.unsafe_fixable
        return f"[*] {fixable} fixable with --fix --unsafe-fixes." if fixable else ""
    more = f"{counts.unsafe_fixable} more with --unsafe-fixes"
    if counts.fixable:
        return f"[*] {counts.fixable} fixable with --fix" + (f" ({more})." if counts.unsafe_fixable else ".")
    return f"{counts.unsafe_fixable} fixable with --fix --unsafe-fixes." if counts.unsafe_fixable else ""
