"""A plan for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.effort import MODEL_VERSION, Plan
from xlamig.effort.model import FIXED_WORK
from xlamig.effort.plan import Coverage, Hours, Item, PhasePlan, Term
from xlamig.findings import Report
from xlamig.report.context import Context
from xlamig.report.numbers import between, figure, number, percent
from xlamig.report.summary import effort, troubles

_SHARED = "counted under another rule"


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    """The plan as lines; `explain` adds every term of the sum."""
    strong = context.paint
    yield f"{strong('strong', f'{plan.target}: {plan.verdict}')} ({plan.verdict_reason})"
    yield ""
    yield f"Effort    {effort(plan)}"
    yield f"          uncalibrated estimate, model {MODEL_VERSION}; {_lines(plan.hours)} to change"
    yield f"On top    {between(plan.fixed_low, plan.fixed_high)} h that no code shows: {FIXED_WORK.lower()}"
    yield f"Coverage  {_coverage(plan.coverage)}"
    yield from _api_uses(plan.coverage)
    if plan.dominant:
        share = percent(plan.dominant.share)
        rule = f"{plan.dominant.code} {plan.dominant.name} ({number(plan.dominant.sites, 'site')})"
        yield f"Warning   {rule} makes up {share} of the estimate: look at its findings first"
    if plan.families:
        yield from ("", strong("strong", "By family"))
        rows = [
            (family.prefix, family.title, number(family.sites, "site"), f"{figure(family.hours.likely)} h")
            for family in plan.families
        ]
        yield from _table(rows)
    for place, phase in enumerate((phase for phase in plan.phases if phase.items), 1):
        yield from _phase(place, phase, context)
    if plan.optional:
        yield from ("", strong("strong", "Optional, in no total"), *_table(_rows(plan.optional)))
    if explain:
        yield from ("", strong("strong", "Terms, in minutes"), *map(_term, plan.terms))
    if problems := list(troubles(report)):
        yield from ("", *problems)


def _phase(place: int, phase: PhasePlan, context: Context) -> Iterator[str]:
    hours = phase.hours
    title = context.paint("strong", f"{place}. {phase.title}")
    yield ""
    yield f"{title}: {between(hours.low, hours.high)} h, likely {figure(hours.likely)} h"
    yield from _table(_rows(phase.items))
    for check in dict.fromkeys(item.verify for item in phase.items):
        yield f"   check: {check}"


def _rows(items: Sequence[Item]) -> list[tuple[str, ...]]:
    return [
        (
            item.code,
            item.name,
            f"{number(item.sites, 'site')} in {number(len(item.filenames), 'file')}"
            if item.sites
            else _SHARED,
            f"{figure(item.hours.likely)} h",
        )
        for item in items
    ]


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:-1], widths, strict=False)]
        yield "   " + "  ".join(cells) + f"  {row[-1]:>{widths[-1]}}"


def _coverage(coverage: Coverage) -> str:
    files = f"{number(coverage.files, 'file')}, {coverage.files_affected} affected"
    return f"{files}, {number(coverage.lines, 'line')}"


def _api_uses(coverage: Coverage) -> Iterator[str]:
    if not coverage.sites:
        return
    shares = (
        (coverage.unchanged, "need no change"),
        (coverage.fixable, "are fixed by --fix"),
        (coverage.unsafe_fixable, "by --fix --unsafe-fixes"),
        (coverage.manual, "by hand"),
    )
    parts = [f"{percent(part / coverage.sites)} {words}" for part, words in shares if part]
    yield f"          {number(coverage.sites, 'API use')}: {', '.join(parts)}"


def _term(term: Term) -> str:
    sites = f"{term.expected_sites:.3g} of {number(term.sites, 'site')}"
    growth = f"{term.per_site_minutes:g} x {term.expected_sites:.3g}^{term.exponent:g}"
    kind = f"{term.code} {term.level}, group {term.group}, {sites} expected"
    return f"   {kind}: {term.offset_minutes:g} + {growth} = {term.minutes:.0f}"


def _lines(hours: Hours) -> str:
    return number(hours.lines_to_change, "line")
