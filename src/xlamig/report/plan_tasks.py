"""A plan as a task list, to be pasted into an issue; GitHub makes check boxes of it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.effort import Plan
from xlamig.effort.model import FIXED_WORK
from xlamig.effort.plan import Item
from xlamig.findings import Report, rule_url
from xlamig.report import plan_words as words
from xlamig.report.context import Context, one_line
from xlamig.report.markdown import prose
from xlamig.report.numbers import between, figure

_MOST_FILES = 5


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    yield f"## Migration to {plan.target}: {plan.verdict}"
    yield ""
    if plan.provenance is not None:
        yield from (f"{prose(words.program(plan.provenance))}.", "")
    low, likely, high = plan.whole
    yield f"Estimate {between(low, high)} h in all, likely {figure(likely)} h; {words.UNSURE}."
    if plan.fixed_high:
        yield from ("", "### Before and after", "")
        yield f"- [ ] {FIXED_WORK}: estimate {between(plan.fixed_low, plan.fixed_high)} h"
    for phase in plan.phases:
        if phase.items:
            yield from ("", f"### {phase.title}: estimate {words.span(phase.hours)}", "")
            for item in phase.items:
                yield from _task(item)
    if plan.optional:
        yield from ("", "### Optional", "")
        for item in plan.optional:
            yield from _task(item)


def _task(item: Item) -> Iterator[str]:
    link = f"[{item.code}]({rule_url(item.code)})"
    yield f"- [ ] {link} {item.name}: {words.places(item)}, estimate {words.span(item.hours)}"
    files = ", ".join(prose(one_line(name)) for name in item.filenames[:_MOST_FILES])
    more = len(item.filenames) - _MOST_FILES
    yield f"  - in {files}" + (f" and {more} more" if more > 0 else "")
    if item.needs:
        yield f"  - after {', '.join(item.needs)}"
    if item.unblocks:
        yield f"  - unblocks {', '.join(item.unblocks)}"
    yield f"  - done when: {words.check(item)}"
