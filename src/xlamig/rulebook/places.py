"""Relate the findings of one file: precedence, repetition, identity, effort."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from xlamig.facts import Span
from xlamig.findings import CONFIDENCES, SEVERITIES, Finding
from xlamig.rulebook.judgement import Judgement
from xlamig.rulebook.rulings import LEVELS


def once_per_place(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return the most serious and surest finding of a rule per span; an import may name several
    dependencies."""
    best: dict[tuple[str, int, int, str], Judgement] = {}
    for judgement in judgements:
        found = judgement.finding
        key = (found.code, found.place.start, found.place.end, found.dependency)
        if key not in best or _weight(found) < _weight(best[key].finding):
            best[key] = judgement
    return list(best.values())


def supersede(
    judgements: Iterable[Judgement],
    precedence: Mapping[str, int],
    is_shown: Callable[[Finding], bool],
) -> list[Judgement]:
    """Drops what another finding at an overlapping place stands for. A finding that the report
    hides stands for hidden ones only, and one that is dropped itself for none."""
    kept: list[Judgement] = []
    above: dict[str, list[Finding]] = {}  # by the codes that each stands for
    for judgement in sorted(judgements, key=lambda j: precedence[j.finding.code]):
        finding = judgement.finding
        if any(
            _overlap(judgement, other) and (is_shown(other) or not is_shown(finding))
            for other in above.get(finding.code, ())
        ):
            continue
        kept.append(judgement)
        for code in judgement.supersedes:
            above.setdefault(code, []).append(finding)
    return kept


def _overlap(one: Judgement, other: Finding) -> bool:
    """Return whether a finding, or the only call of the function that it stands in, is at another's place."""
    own, b = one.finding.place, other.place
    return any(
        (start, end) == (b.start, b.end) or (start < b.end and b.start < end)
        for start, end in ((own.start, own.end), *one.fact.calls)
    )


def identify(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """The judgements by place, each with its fingerprint."""
    ordered = sorted(
        judgements,
        key=lambda j: (j.finding.cell or 0, j.finding.place.start, j.finding.place.end, j.finding.code),
    )
    seen: Counter[tuple[str, str, str]] = Counter()
    return tuple(_with_fingerprint(judgement, seen) for judgement in ordered)


def _with_fingerprint(judgement: Judgement, seen: Counter[tuple[str, str, str]]) -> Judgement:
    finding = judgement.finding
    key = (finding.code, finding.scope, finding.statement)
    text = "\0".join((*key, str(seen[key])))
    seen[key] += 1
    fingerprint = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return replace(judgement, finding=replace(finding, fingerprint=fingerprint))


def count_statements_once(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Over one file's final findings: of those on one statement the most serious keeps the
    effort, the others become optional."""
    found = tuple(judgements)
    keeper: dict[Span, int] = {}
    for i, judgement in enumerate(found):
        held = keeper.setdefault(judgement.fact.statement, i)
        if _rank(judgement.finding) < _rank(found[held].finding):
            keeper[judgement.fact.statement] = i
    return tuple(
        judgement if keeper[judgement.fact.statement] == i else _optional(judgement)
        for i, judgement in enumerate(found)
    )


def _rank(finding: Finding) -> tuple[int, int]:
    return SEVERITIES.index(finding.severity), -LEVELS.index(finding.effort.level)


def _optional(judgement: Judgement) -> Judgement:
    finding = judgement.finding
    if finding.effort.optional:
        return judgement
    return replace(judgement, finding=replace(finding, effort=replace(finding.effort, optional=True)))


def _weight(finding: Finding) -> tuple[int, int]:
    return SEVERITIES.index(finding.severity), CONFIDENCES.index(finding.confidence)
