"""A plan for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.effort.plan import Item, PhasePlan, Plan
from xlamig.findings import Report
from xlamig.report import plan_economics, plan_placement, plan_step
from xlamig.report import plan_format as words
from xlamig.report.context import Context, one_line
from xlamig.report.numbers import figure, number, percent
from xlamig.report.summary import troubles


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    """The plan as lines; `explain` adds every term of the sum."""
    strong = context.paint
    yield f"{strong('strong', f'{plan.target}: {plan.verdict}')} ({plan.verdict_reason})"
    yield ""
    for label, lines in words.head(plan):
        yield from _label_lines(label, lines)
    if plan.dominant:
        share = percent(plan.dominant.share)
        rule = f"{plan.dominant.code} {plan.dominant.name} ({number(plan.dominant.sites, 'site')})"
        yield f"Warning   {rule} makes up {share} of the estimate: look at its findings first"
    if plan.families:
        yield from ("", strong("strong", "By family, estimates"))
        rows = [
            (family.prefix, family.title, number(family.sites, "site"), words.span(family.hours))
            for family in plan.families
        ]
        yield from _table(rows)
    for place, phase in enumerate((phase for phase in plan.phases if phase.items), 1):
        yield from _phase(place, phase, context)
    if plan.optional:
        yield from ("", strong("strong", "Optional, not in the totals"), *_table(_rows(plan.optional)))
    yield from _placement(plan, context)
    if plan.economics is not None:
        yield from ("", strong("strong", "Economics, estimates"))
        yield from map(_indent, plan_economics.lines(plan.economics))
    if plan.step is not None:
        yield from ("", strong("strong", "One training step, compiled"))
        yield from (_indent(one_line(line)) for line in plan_step.lines(plan.step))
    if plan.history:
        yield from ("", strong("strong", "Remaining work over time, estimates"))
        yield from (_indent(one_line(line)) for line in words.burn_down(plan))
    if explain:
        yield from ("", strong("strong", "Terms, in minutes"), *map(_indent, words.terms(plan)))
    if problems := list(troubles(report)):
        yield from ("", *problems)


def _phase(place: int, phase: PhasePlan, context: Context) -> Iterator[str]:
    title = context.paint("strong", f"{place}. {phase.title}")
    yield ""
    yield f"{title}: estimate {words.span(phase.hours)}, likely {figure(phase.hours.likely)} h"
    yield from _table(_rows(phase.items))
    for line in words.waiting(phase.items):
        yield f"   order: {line}"
    for check in dict.fromkeys(words.check(item) for item in phase.items):
        yield f"   verify: {check}"


def _placement(plan: Plan, context: Context) -> Iterator[str]:
    if plan.stages:
        yield from ("", context.paint("strong", f"Placement, {plan_placement.UNSURE}"))
        title = max(len(stage.title) for stage in plan.stages)
        for stage in plan.stages:
            yield f"   {stage.title:<{title}}  {stage.device}  {plan_placement.name_parts(stage)}"
            yield from (f"   {'':<{title}}       {reason}" for reason in stage.reasons)
        yield from (f"   note: {line}" for line in plan.crossings)
    if lines := list(plan_placement.sizes(plan)):
        yield from ("", context.paint("strong", "Sizes on a matrix unit (MXU)"), *map(_indent, lines))


def _rows(items: Sequence[Item]) -> list[tuple[str, ...]]:
    return [(item.code, item.name, words.places(item), words.span(item.hours)) for item in items]


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:-1], widths, strict=False)]
        yield "   " + "  ".join(cells) + f"  {row[-1]:>{widths[-1]}}"


def _label_lines(label: str, lines: Sequence[str]) -> Iterator[str]:
    for row, line in enumerate(lines):
        yield f"{'' if row else label:<10}{line}"


def _indent(line: str) -> str:
    return f"   {line}"
