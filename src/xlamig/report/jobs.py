"""The jobs that decide a port: findings of one kind of work, with the command that does or lists them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from xlamig.findings import SEVERITIES, Finding, Level, Report
from xlamig.report.context import is_fixable
from xlamig.report.numbers import number

FROM = 21  # findings from which a summary names the jobs
MOST = 5
_LEVELS: tuple[Level, ...] = get_args(Level)
_DONE_BY_HAND: tuple[Level, ...] = ("complex", "redesign", "rearchitect")


@dataclass(frozen=True, slots=True)
class Job:
    group: str
    findings: tuple[Finding, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(sorted({place.code for place in self._places}))

    @property
    def _places(self) -> tuple[Finding, ...]:
        """Return the findings with the others of their jobs, but for infos and other kinds of work."""
        places = (place for finding in self.findings for place in finding.places)
        return tuple(p for p in places if p.severity != "info" and p.effort.group in (self.group, ""))

    @property
    def rank(self) -> tuple[int, int, bool, int]:
        """Return the sort key: severity, then the work of one place, then the steps, then how many."""
        worst = min(
            self.findings, key=lambda f: (SEVERITIES.index(f.severity), -_LEVELS.index(f.effort.level))
        )
        level = worst.effort.level if worst.effort.level in _DONE_BY_HAND else "simple"
        in_steps = any(finding.frequency == "step" for finding in self.findings)
        return SEVERITIES.index(worst.severity), -_LEVELS.index(level), not in_steps, -len(self.findings)

    @property
    def command(self) -> str:
        """Return the options that do the job, as far as fixes do it, or list it; what may change results is
        shown first, by `--diff`."""
        select = f"--select {','.join(self.codes)}"
        fixable = [place for place in self._places if is_fixable(place, unsafe_fixes=True)]
        if not fixable:
            return select
        return f"{select} --fix" if all(map(is_fixable, fixable)) else f"{select} --diff --unsafe-fixes"


def jobs(report: Report) -> list[Job]:
    """Return the jobs, the ones that decide the port first; infos are no jobs."""
    groups: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.severity != "info":
            groups.setdefault(finding.effort.group or finding.code, []).append(finding)
    return sorted((Job(group, tuple(found)) for group, found in groups.items()), key=lambda job: job.rank)


def lines(report: Report, command: str) -> Iterator[str]:
    """Yield the first jobs in words, for a report that is too long to be read; `command` lists all."""
    if len(report.findings) < FROM:
        return
    first = jobs(report)[:MOST]
    titles = [f"{place}. {job.group.replace('-', ' ')}" for place, job in enumerate(first, 1)]
    amounts = [_amount(job.findings) for job in first]
    if first:
        yield "What decides this port, in this order:"
    for title, amount, job in zip(titles, amounts, first, strict=True):
        room = max(map(len, titles)), max(map(len, amounts))
        yield f"  {title:<{room[0]}}  {amount:<{room[1]}}  {command} {job.command}"


def _amount(findings: Sequence[Finding]) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = sum(finding.severity == "warning" for finding in findings)
    counts = ((errors, "error"), (warnings, "warning"))
    places = sum(len(finding.places) for finding in findings)
    shown = [number(count, noun) for count, noun in counts if count]
    return ", ".join([*shown, f"{places} places"] if places > len(findings) else shown)
