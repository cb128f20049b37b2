"""A report to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor

from xlamig.config.settings import EffortSettings
from xlamig.effort.fill import fills
from xlamig.effort.model import DOMINANT_SITES, FAMILIES, LARGE, LINES_SPREAD, PHASES, VERIFY
from xlamig.effort.order import in_order
from xlamig.effort.placement import beside_training, crossings, place
from xlamig.effort.plan import (
    Coverage,
    Dominance,
    Family,
    Hours,
    Item,
    Lines,
    PhasePlan,
    Plan,
    Side,
)
from xlamig.effort.sides import side_of, weigher
from xlamig.effort.sites import credit, distinct, is_optional, is_work
from xlamig.effort.stacks import stacks
from xlamig.effort.stages import pieces
from xlamig.effort.tables import table
from xlamig.effort.terms import Addend, addends, difference, total
from xlamig.effort.verdict import judge, uses_torch
from xlamig.findings import Finding, Phase, Report


def estimate(report: Report, settings: EffortSettings) -> Plan:
    """The work a report's findings ask for, and how sure that is."""
    planned = report.planned
    work = [finding for finding in planned if is_work(finding)]
    needed = [finding for finding in work if not is_optional(finding)]
    weight_of = weigher([file.filename for file in report.files], settings)
    parts = addends(distinct(needed, weight_of), settings)
    hours = total(parts)
    extra = [finding for finding in work if is_optional(finding)]
    extra_parts = addends(distinct(extra, weight_of), settings)
    found = uses_torch(report)
    sites = [site for part in parts for site in part.sites]
    stage_pieces = pieces(report)
    beside = beside_training(report, stage_pieces)
    verdict, reason = judge(sites, hours, settings, found, beside, len(report.unread))
    phases = tuple(_phase(phase, title, needed, parts) for phase, title in PHASES.items())
    stages = place(report, stage_pieces)
    return Plan(
        target=report.target,
        verdict=verdict,
        verdict_reason=reason,
        coverage=_coverage(report, needed),
        hours=hours,
        phases=in_order(phases, {finding.code: finding.effort.group for finding in needed}),
        families=_families(parts),
        optional=_items(extra, extra_parts),
        sides=_sides(parts, settings),
        fixed_low=settings.overhead_low_hours if found else 0.0,
        fixed_high=settings.overhead_high_hours if found else 0.0,
        lines=_all_lines(hours, settings.fixed_lines),
        hours_per_day=settings.hours_per_day,
        dominant=_dominant(needed, parts, settings.dominant_share),
        terms=tuple(part.term() for part in parts),
        stages=stages,
        crossings=tuple(crossings(stages)),
        fills=fills(report),
        stacks=stacks(report),
        on_xla=tuple(sorted({name for file in report.files for name in file.on_xla})),
        without_work=_count(planned) - _count(work),
        in_tests=_count(planned) - len(report.findings),
    )


def _count(findings: Iterable[Finding]) -> int:
    """Return how many are reported themselves; the others are further places of these."""
    return sum(finding.aside != "job" for finding in findings)


def _all_lines(hours: Hours, fixed: float) -> Lines:
    fixed = fixed if hours.lines_to_change else 0.0  # where nothing is found nothing has to be set up
    lines = hours.lines_to_change + fixed
    low, high = LINES_SPREAD
    return Lines(floor(lines * low), round(lines), ceil(lines * high), fixed, hours.lines_fast)


def _phase(phase: Phase, title: str, needed: Sequence[Finding], parts: Sequence[Addend]) -> PhasePlan:
    inside = [part for part in parts if part.phase == phase]
    findings = [finding for finding in needed if finding.effort.phase == phase]
    return PhasePlan(phase, title, total(inside), _items(findings, inside))


def _items(findings: Iterable[Finding], parts: Sequence[Addend]) -> tuple[Item, ...]:
    """One item per rule, most work first."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    items = []
    for code, found in by_code.items():
        own = [part for part in parts if part.code == code]
        how = table("work")["verify"][found[0].mechanism]
        item = Item(
            code=code,
            name=found[0].name,
            filenames=tuple(sorted({finding.filename for finding in found})),
            findings=_count(found),
            sites=sum(len(part.sites) for part in own),
            hours=total(own),
            verify=VERIFY[found[0].mechanism],
            command=how["command"] if found[0].target == "torch_xla" else "",
            counter=how["counter"] if found[0].target == "torch_xla" else "",
        )
        items.append(item)
    return tuple(sorted(items, key=lambda item: (-item.hours.likely, item.code)))


def _families(parts: Sequence[Addend]) -> tuple[Family, ...]:
    by_prefix: dict[str, list[Addend]] = {}
    for part in parts:
        by_prefix.setdefault(part.code[:-2], []).append(part)
    return tuple(
        Family(prefix, FAMILIES.get(prefix, prefix), sum(len(part.sites) for part in own), total(own))
        for prefix, own in sorted(by_prefix.items())
    )


def _sides(parts: Sequence[Addend], settings: EffortSettings) -> tuple[Side, ...]:
    """Return the shares of tests and examples in the whole, if there is other code as well."""
    weights = {"tests": settings.tests_weight, "examples": settings.examples_weight}
    sites = [site for part in parts for site in part.sites]
    if all(side_of(site.finding.filename) for site in sites):
        return ()
    everything = total(parts)
    found = []
    for name, weight in weights.items():
        apart = [site for site in sites if side_of(site.finding.filename) == name]
        if apart:
            rest = total(addends([site for site in sites if site not in apart], settings))
            found.append(Side(name, len(apart), weight, difference(everything, rest)))
    return tuple(found)


def _coverage(report: Report, needed: Sequence[Finding]) -> Coverage:
    """Counts places: several findings on one are one, of the grade that leaves most to do."""
    grades: dict[tuple[str, int | None, int], int] = {}
    order = ("safe", "unsafe", None)
    for finding in needed:
        place = (finding.filename, finding.cell, finding.place.start)
        grades[place] = max(grades.get(place, 0), order.index(credit(finding)))
    per_grade = [list(grades.values()).count(grade) for grade in range(len(order))]
    checked = [file for file in report.files if not file.skipped]
    # Findings outside Python files are at no API use, so the uses alone may be fewer.
    sites = max(sum(file.sites for file in checked), len(grades))
    return Coverage(
        files=len(checked),
        files_affected=len({finding.filename for finding in needed}),
        lines=sum(file.lines for file in checked),
        sites=sites,
        unchanged=sites - len(grades),
        fixable=per_grade[0],
        unsafe_fixable=per_grade[1],
        manual=per_grade[2],
    )


def _dominant(needed: Sequence[Finding], parts: Sequence[Addend], limit: float) -> Dominance | None:
    names = {finding.code: finding.name for finding in needed}
    everything = sum(part.minutes for part in parts)
    for code in sorted(names):
        own = [part for part in parts if part.code == code]
        minutes = sum(part.minutes for part in own)
        sites = sum(len(part.sites) for part in own)
        small = all(part.level not in LARGE for part in own)
        if small and sites >= DOMINANT_SITES and minutes > limit * everything:
            return Dominance(code, names[code], sites, minutes / everything)
    return None
