"""A plan as Markdown, for a wiki, an issue or a job summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xlamig.effort.plan import Item, Plan
from xlamig.findings import Report, rule_url
from xlamig.report import plan_economics, plan_placement, plan_step
from xlamig.report import plan_format as words
from xlamig.report.context import Context, one_line
from xlamig.report.markdown import prose
from xlamig.report.numbers import figure, number
from xlamig.report.summary import troubles


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    yield f"## Migration to {plan.target}: {plan.verdict}"
    yield ""
    yield f"{prose(plan.verdict_reason)}."
    yield ""
    for label, lines in words.head(plan):
        yield f"- **{label}** {'; '.join(map(prose, lines))}"
    if plan.families:
        rows = [
            (family.prefix, family.title, number(family.sites, "site"), words.span(family.hours))
            for family in plan.families
        ]
        yield from _section("By family", ("family", "", "sites", "estimate"), rows)
    for place, phase in enumerate((phase for phase in plan.phases if phase.items), 1):
        hours = f"{words.span(phase.hours)}, likely {figure(phase.hours.likely)} h"
        title = f"{place}. {phase.title}: estimate {hours}"
        yield from _section(title, ("rule", "sites", "estimate", "after", "done when"), _rows(phase.items))
    if plan.optional:
        header = ("rule", "sites", "estimate", "after", "done when")
        yield from _section("Optional, not in the totals", header, _rows(plan.optional))
    if plan.stages:
        stages = [
            (
                stage.title,
                stage.device,
                prose(plan_placement.name_parts(stage)),
                prose("; ".join(stage.reasons)),
            )
            for stage in plan.stages
        ]
        title = f"Placement, {plan_placement.UNSURE}"
        yield from _section(title, ("stage", "on", "made of", "why"), stages)
        yield from _list(plan.crossings)
    if sizes := list(plan_placement.sizes(plan)):
        yield from ("", "### Sizes on a matrix unit (MXU)", *_list(sizes))
    if plan.economics is not None:
        yield from ("", "### Economics, estimates", *_list(plan_economics.lines(plan.economics)))
    if plan.step is not None:
        yield from ("", "### One training step, compiled", *_list(plan_step.lines(plan.step)))
    if plan.history:
        past = [
            (point.date, f"`{point.revision}`", words.span(point.hours), prose(words.short_subject(point)))
            for point in plan.history
        ]
        columns = ("date", "commit", "estimate", "subject")
        yield from _section("Remaining work over time, estimates", columns, past)
    if explain:
        yield from ("", "### Terms, in minutes", *_list(words.terms(plan)))
    yield from _list(troubles(report))


def _rows(items: Sequence[Item]) -> list[tuple[str, ...]]:
    return [
        (
            f"[{item.code}]({rule_url(item.code)}) {item.name}",
            words.places(item),
            words.span(item.hours),
            ", ".join(item.needs),
            prose(words.check(item)),
        )
        for item in items
    ]


def _section(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from ("", f"### {title}", "", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}")
    for row in rows:
        yield f"| {' | '.join(one_line(cell) for cell in row)} |"


def _list(lines: Iterable[str]) -> Iterator[str]:
    found = [f"- {prose(line.strip())}" for line in lines]
    if found:
        yield from ("", *found)
