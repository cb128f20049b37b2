"""Put a plan into words, the same in every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import shorten

from xlamig.effort.model import FIXED_WORK, MODEL_VERSION
from xlamig.effort.plan import Hours, Item, Lines, Plan, Point, Term
from xlamig.findings import Provenance
from xlamig.report.context import one_line
from xlamig.report.numbers import between, figure, number, percentages
from xlamig.report.summary import days

UNSURE = f"hours are not calibrated (model {MODEL_VERSION}): an estimate, not a promise"
_SHARED = "counted under a different rule"
_BAR = 24  # characters of the longest bar
_SUBJECT = 60  # characters of a commit's subject


def head(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """The figures at the top: a label and its lines."""
    if plan.verdict == "nothing":
        yield "Read", [_files(plan)]
        return
    if plan.provenance is not None:
        yield "Program", [program(plan.provenance)]
    yield "Estimate", [*_estimate(plan), UNSURE]
    if plan.lines.likely or plan.lines.fast:
        yield "Lines", [*_lines(plan.lines, plan.coverage.files_affected)]
    yield "Findings", [findings(plan)]
    yield "Coverage", [*coverage(plan), _files(plan)]
    if plan.sides:
        parts = [
            f"{side.name} {number(side.sites, 'site')}, weight {side.weight:g}, {span(side.hours)}"
            for side in plan.sides
        ]
        yield "Included", parts
    if plan.stacks or plan.on_xla:
        yield "Stacks", list(stacks(plan))


def stacks(plan: Plan) -> Iterator[str]:
    """Yield the stacks of the program with advice, then those on XLA already."""
    for stack in plan.stacks:
        yield f"{stack.message}: {stack.advice}"
        yield from (f"  {concern}" for concern in stack.concerns)
    if plan.on_xla:
        yield f"on XLA already, nothing to port: {', '.join(plan.on_xla)}"


def span(hours: Hours) -> str:
    return f"{between(hours.low, hours.high)} h"


def places(item: Item) -> str:
    """`3 sites in 2 files`; where findings share their work, so that both add up to their totals:
    `5 findings in 3 files, 2 sites`."""
    files = number(len(item.filenames), "file")
    if item.sites == item.findings:
        return f"{number(item.sites, 'site')} in {files}"
    sites = number(item.sites, "site") if item.sites else _SHARED
    return f"{number(item.findings, 'finding')} in {files}, {sites}"


def findings(plan: Plan) -> str:
    """`65 in all: 33 ask for work at 27 sites, 22 are optional, 10 ask for none`."""
    needed = [item for phase in plan.phases for item in phase.items]
    asking = sum(item.findings for item in needed)
    optional = sum(item.findings for item in plan.optional)
    sites = number(sum(item.sites for item in needed), "site")
    parts = [f"{asking} ask{'s' if asking == 1 else ''} for work at {sites} (work done once)"]
    if optional:
        parts.append(f"{optional} optional")
    if plan.without_work:
        parts.append(f"{plan.without_work} without work")
    if plan.in_tests:
        parts.append(f"{plan.in_tests} of these in tests, which `check` only counts")
    return f"{asking + optional + plan.without_work} in all: {', '.join(parts)}"


def check(item: Item) -> str:
    """How to see that an item is done."""
    counter = f", counter {item.counter}" if item.counter else ""
    return f"{item.verify} (`{item.command}`{counter})" if item.command else item.verify


def waiting(items: Sequence[Item]) -> Iterator[str]:
    """`XLA101, XLA102 after XLA401`, for items that wait for the same ones together."""
    together: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        if item.needs:
            together.setdefault(item.needs, []).append(item.code)
    for needs, codes in together.items():
        yield f"{', '.join(codes)} after {', '.join(needs)}"


def coverage(plan: Plan) -> list[str]:
    """`87% of 412 uses of CUDA and PyTorch need no change, 9% fixed by --fix, 4% by hand`."""
    counts = plan.coverage
    if not counts.sites:
        return []
    parts = {
        "need no change": counts.unchanged,
        "fixed by --fix": counts.fixable,
        "by --fix --unsafe-fixes": counts.unsafe_fixable,
        "by hand": counts.manual,
    }
    shares = zip(percentages([*parts.values()]), parts.items(), strict=True)
    first, *rest = (f"{share} {words}" for share, (words, count) in shares if count)
    share, words = first.split(" ", 1)
    sites = f"{number(counts.sites, 'use')} of CUDA and PyTorch"
    return [", ".join((f"{share} of {sites} {words}", *rest))]


def burn_down(plan: Plan) -> Iterator[str]:
    """Yield the remaining work at each commit, with a bar of the likely estimate."""
    most = max((point.hours.likely for point in plan.history), default=0) or 1
    for point in plan.history:
        bar = "#" * round(_BAR * point.hours.likely / most)
        hours = f"{span(point.hours):>12}, likely {figure(point.hours.likely):>4} h"
        yield f"{point.date}  {point.revision}  {hours}  {bar:<{_BAR}}  {short_subject(point)}".rstrip()


def short_subject(point: Point) -> str:
    """Return the first words of a commit's subject."""
    return shorten(one_line(point.subject), _SUBJECT, placeholder=" ...")


def terms(plan: Plan) -> Iterator[str]:
    """Every addend of the likely value, and what makes the lines."""
    yield from map(_term, plan.terms)
    minutes = sum(term.minutes for term in plan.terms)
    yield f"sum {minutes:.0f} minutes = {figure(minutes / 60)} h likely; ranges add in quadrature"


def _term(term: Term) -> str:
    sites = f"{term.expected_sites:.3g} of {number(term.sites, 'site')}"
    growth = f"{term.per_site_minutes:g} x {term.expected_sites:.3g}^{term.exponent:g}"
    kind = f"{term.code} {term.level}, group {term.group}, {sites} expected"
    return f"{kind}: {term.offset_minutes:g} + {growth} = {term.minutes:.0f}"


def program(about: Provenance) -> str:
    """`nanochat at 92d63d4 (2026-11-20), only what scripts/base_train.py imports`"""
    at = f" at {about.revision} ({about.date})" if about.revision else ""
    changed = " with uncommitted changes" if about.changed else ""
    scope = f", only what {' and '.join(about.entries)} imports" if about.entries else ""
    return f"{about.name}{at}{changed}{scope}"


def _estimate(plan: Plan) -> Iterator[str]:
    """The whole first, then its parts."""
    low, likely, high = plan.whole
    if not high:
        yield "0 h"
        return
    yield f"{between(low, high)} h in all, likely {figure(likely)} h{days(low, high, plan.hours_per_day)}"
    hours = plan.hours
    yield f"findings: {span(hours)}, likely {figure(hours.likely)} h"
    yield from _saving_lines(hours, hours.after_fix, "--fix")
    if figure(hours.after_unsafe_fix) != figure(hours.after_fix):
        yield from _saving_lines(hours, hours.after_unsafe_fix, "--fix --unsafe-fixes")
    if plan.fixed_high:
        fixed = between(plan.fixed_low, plan.fixed_high)
        yield f"beside the findings: {fixed} h for {FIXED_WORK[0].lower()}{FIXED_WORK[1:]}"


def _saving_lines(hours: Hours, left: float, flags: str) -> Iterator[str]:
    if figure(left) != figure(hours.likely):
        part = left / hours.likely
        span = f"{between(hours.low * part, hours.high * part)} h"
        saved = figure(hours.likely - left)
        yield f"findings after {flags}: {span}, likely {figure(left)} h, which saves {saved} h"


def _lines(lines: Lines, files: int) -> Iterator[str]:
    purpose = "lines deleted and added to make it run, correct and scale"
    yield f"{lines.low}-{lines.high}, likely {lines.likely} {purpose} (estimate)"
    if files > 1:
        yield f"covers all {files} affected files; pass only the files you intend to port"
    if lines.fast:
        yield f"about {lines.fast} more lines to make it fast (estimate, relative to the unported code)"


def _files(plan: Plan) -> str:
    counts = plan.coverage
    files = f"{number(counts.files, 'file')}, {counts.files_affected} affected"
    return f"{files}, {number(counts.lines, 'line')}"
