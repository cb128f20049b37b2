"""A plan as tasks: each says what to do, where, why and how to prove that it is done, so that a person or an
agent can be given one alone. GitHub makes check boxes of them."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from xlamig.effort.model import FIXED_WORK
from xlamig.effort.plan import Item, Plan
from xlamig.findings import Finding, Report, rule_url
from xlamig.report import plan_format as words
from xlamig.report.context import Context, one_line
from xlamig.report.markdown import prose
from xlamig.report.numbers import between, figure

OPTIONAL = "Optional"
_MOST_PLACES = 10
_MOST_WORDS = 3  # different messages, or different things to write instead


@dataclass(frozen=True, slots=True)
class Task:
    """`where` lists the first places, `more` counts the others. `proof` is a command that reports
    nothing once the task is done; `check` says how a run shows it."""

    code: str
    name: str
    phase: str
    why: tuple[str, ...]
    what: tuple[str, ...]
    where: tuple[str, ...]
    more: int
    fixable: int
    proof: str
    check: str
    after: tuple[str, ...]
    unblocks: tuple[str, ...]
    estimate: str
    sites: str
    filenames: tuple[str, ...]


def tasks(plan: Plan, report: Report) -> Iterator[Task]:
    """The tasks in the order of the plan, the optional ones last."""
    by_code: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_code.setdefault(finding.code, []).append(finding)
    program = _program(report)
    for phase in plan.phases:
        for item in phase.items:
            yield _task(item, phase.title, by_code.get(item.code, []), program)
    for item in plan.optional:
        yield _task(item, OPTIONAL, by_code.get(item.code, []), program)


def _task(item: Item, phase: str, findings: Sequence[Finding], program: str) -> Task:
    own = [finding for finding in findings if finding.filename in item.filenames] or list(findings)
    return Task(
        code=item.code,
        name=item.name,
        phase=phase,
        why=tuple(dict.fromkeys(finding.message for finding in own))[:_MOST_WORDS],
        what=tuple(dict.fromkeys(finding.help for finding in own if finding.help))[:_MOST_WORDS],
        where=tuple(_place(finding) for finding in own[:_MOST_PLACES]),
        more=max(0, len(own) - _MOST_PLACES),
        fixable=sum(f.fix is not None and f.fix.applicability == "safe" and bool(f.fix.edits) for f in own),
        proof=f"xlamig check --select {item.code} {shlex.quote(program)}",
        check=words.check(item),
        after=item.needs,
        unblocks=item.unblocks,
        estimate=words.span(item.hours),
        sites=words.places(item),
        filenames=item.filenames,
    )


def _place(finding: Finding) -> str:
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    return f"{one_line(finding.filename)}:{cell}{finding.place.location.row}"


def _program(report: Report) -> str:
    """The folder of all files: what a line means depends on the others, so all are checked for a proof."""
    folders = {PurePosixPath(file.filename).parent.as_posix() for file in report.files}
    return posixpath.commonpath(folders) or "." if folders else "."


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
    estimates = {phase.title: f": estimate {words.span(phase.hours)}" for phase in plan.phases}
    heading = ""
    for task in tasks(plan, report):
        if task.phase != heading:
            heading = task.phase
            yield from ("", f"### {heading}{estimates.get(heading, '')}", "")
        yield from _lines(task)


def _lines(task: Task) -> Iterator[str]:
    link = f"[{task.code}]({rule_url(task.code)})"
    yield f"- [ ] {link} {task.name}: {task.sites}, estimate {task.estimate}"
    yield from (f"  - why: {prose(one_line(text))}" for text in task.why)
    yield from (f"  - what: {prose(one_line(text))}" for text in task.what)
    if task.fixable:
        yield f"  - `{task.proof} --fix` does {task.fixable} of them"
    places = ", ".join(prose(place) for place in task.where)
    yield f"  - where: {places}" + (f" and {task.more} more" if task.more else "")
    if task.after:
        yield f"  - after {', '.join(task.after)}"
    if task.unblocks:
        yield f"  - unblocks {', '.join(task.unblocks)}"
    yield f"  - done when: `{task.proof}` reports nothing, and {task.check}"
