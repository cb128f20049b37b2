"""Which findings ask for work, and where they ask for the same work."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from xlamig.effort.model import ANCHORS, CHANCE, CREDITED
from xlamig.findings import CONFIDENCES, SEVERITIES, Applicability, Finding

_LEVELS = tuple(ANCHORS)


@dataclass(frozen=True, slots=True)
class Site:
    """Work that is done once. Of all `findings` there, `finding` is the one that keeps the effort;
    `weight` is what its place counts."""

    finding: Finding
    findings: tuple[Finding, ...]
    weight: float = 1.0

    @property
    def credit(self) -> Applicability | None:
        """The grade of the fix that does the work, if a fix does."""
        return credit(self.finding)


def credit(finding: Finding) -> Applicability | None:
    fix = finding.fix
    if fix is None or fix.applicability not in CREDITED or not (fix.edits or fix.creates):
        return None
    return fix.applicability


def is_work(finding: Finding) -> bool:
    """Return whether the finding asks for anything at all."""
    return finding.effort.level != "info"


def is_optional(finding: Finding) -> bool:
    return finding.effort.optional or finding.severity == "info"


def distinct(
    findings: Iterable[Finding], weight_of: Callable[[str], float] = lambda filename: 1.0
) -> tuple[Site, ...]:
    """One site for all findings that one change settles, in the order of first appearance.

    Of several findings on one statement, or at exactly one place, the one that asks for most keeps
    the effort.
    """
    together: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        together.setdefault(_key(finding), []).append(finding)
    return tuple(
        Site(_kept(found), tuple(found), max(weight_of(one.filename) for one in found))
        for found in _apart(list(together.values()))
    )


def _apart(groups: list[list[Finding]]) -> list[list[Finding]]:
    """Without those whose places another rule's has all of and asks for at least as much. One rule
    may find two things at a place: an import of two packages."""
    ranked = sorted(groups, key=_reach, reverse=True)
    codes = {id(group): _kept(group).code for group in ranked}
    holders: dict[Hashable, list[list[Finding]]] = {}
    for group in ranked:
        places = _places(group)
        first, *others = (holders.get(place, []) for place in places)
        common = (had for had in first if all(had in other for other in others))
        above = next((had for had in common if codes[id(had)] != codes[id(group)]), None)
        if above is None:
            for place in places:
                holders.setdefault(place, []).append(group)
        else:
            above += group
            group.clear()
    return [group for group in groups if group]


def _kept(group: list[Finding]) -> Finding:
    """Return the finding of a group that keeps the effort."""
    return max(group, key=_rank)


def _reach(group: list[Finding]) -> tuple[object, ...]:
    """Return the sort key of a group: of two with equal work, the one with more places comes first."""
    rank = _rank(_kept(group))
    return rank[0], len(_places(group)), rank


def _places(group: list[Finding]) -> set[Hashable]:
    return {(one.filename, one.cell, one.place.start, one.place.end) for one in group}


def _key(finding: Finding) -> Hashable:
    match finding.effort.unit:
        case "site":
            # Without a statement's text only the place tells sites apart.
            statement = finding.statement or finding.place.start
            return (finding.filename, finding.cell, finding.scope, statement)
        case "function":
            return (finding.code, finding.filename, finding.cell, finding.scope)
        case "file":
            return (finding.code, finding.filename)
        case "dependency":
            # The message names the package, and no place.
            return (finding.code, finding.message)
        case "repo":
            return finding.code


def _rank(finding: Finding) -> tuple[object, ...]:
    anchor, chance = ANCHORS[finding.effort.level], CHANCE[finding.confidence]
    return (
        anchor.offset * chance + anchor.per_site * chance,
        _LEVELS.index(finding.effort.level),
        -CONFIDENCES.index(finding.confidence),
        -SEVERITIES.index(finding.severity),
        CREDITED.index(grade) if (grade := credit(finding)) else len(CREDITED),
        finding.code,
        finding.effort.phase,
        finding.effort.group,
    )
