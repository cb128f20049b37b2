"""Sites to minutes: the formula, its range and what fixes take off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, hypot

from xlamig.config.settings import EffortSettings
from xlamig.effort.model import (
    ANCHORS,
    CHANCE,
    CORRELATED,
    SAFE_REVIEW_MINUTES,
    SPREAD,
    UNKNOWN_SPREAD,
    UNSAFE_SHARE,
    Anchor,
)
from xlamig.effort.plan import Hours, Term
from xlamig.effort.sites import Site, credit
from xlamig.findings import Level, Phase


@dataclass(slots=True)
class Addend:
    """The sites of one rule at one level in one phase, and what they cost."""

    code: str
    level: Level
    phase: Phase
    group: str
    anchor: Anchor
    exponent: float
    sites: tuple[Site, ...]
    offset: float = 0.0
    offset_after_fix: float = 0.0

    def expected(self, *credits: str | None) -> float:
        """Expected number of sites whose fix has one of these grades; of all without any."""
        return fsum(site.expected for site in self.sites if not credits or site.credit in credits)

    @property
    def minutes(self) -> float:
        return self.offset + self._cost(self.expected())

    @property
    def minutes_after_fix(self) -> float:
        manual = self._cost(self.expected(None, "unsafe"))
        return self.offset_after_fix + self._reviewed(manual)

    @property
    def minutes_after_unsafe_fix(self) -> float:
        unfixed = self._cost(self.expected(None))
        left = unfixed + UNSAFE_SHARE * (self._cost(self.expected(None, "unsafe")) - unfixed)
        return self.offset_after_fix + self._reviewed(left)

    @property
    def spread(self) -> tuple[float, float]:
        if self.level == "unknown":
            return UNKNOWN_SPREAD
        pairs = [SPREAD[site.finding.confidence] for site in self.sites]
        return fsum(low for low, _ in pairs) / len(pairs), fsum(high for _, high in pairs) / len(pairs)

    @property
    def lines(self) -> set[tuple[str, int | None, int]]:
        return {line for site in self.sites for line in _lines(site)}

    def term(self) -> Term:
        return Term(
            self.code, self.level, self.group, self.phase, len(self.sites), self.expected(),
            self.offset, self.anchor.per_site, self.exponent, self.minutes,
        )  # fmt: skip

    def _cost(self, expected: float) -> float:
        return self.anchor.per_site * expected**self.exponent if expected else 0.0

    def _reviewed(self, left: float) -> float:
        review = SAFE_REVIEW_MINUTES * self.expected("safe")
        return min(left + review, self._cost(self.expected()))


def addends(sites: Iterable[Site], settings: EffortSettings) -> tuple[Addend, ...]:
    """One addend per rule, level and phase, with each group's offset charged once."""
    groups: dict[tuple[str, Level, Phase, str], list[Site]] = defaultdict(list)
    for site in sites:
        effort = site.finding.effort
        code = site.finding.code
        groups[code, effort.level, effort.phase, effort.group or code].append(site)
    made = tuple(
        Addend(code, level, phase, group, _anchor(level, settings), settings.exponent, tuple(found))
        for (code, level, phase, group), found in sorted(groups.items(), key=lambda pair: pair[0])
    )
    by_group: dict[str, list[Addend]] = defaultdict(list)
    for addend in made:
        by_group[addend.group].append(addend)
    for members in by_group.values():
        _charge_offset(members)
    return made


def total(parts: Sequence[Addend]) -> Hours:
    """Sum of the likely values; ranges combine in quadrature, down to a correlated floor."""
    likely = sum(part.minutes for part in parts)
    down = hypot(*(part.minutes * (1 - part.spread[0]) for part in parts))
    up = hypot(*(part.minutes * (part.spread[1] - 1) for part in parts))
    return Hours(
        low=(likely - max(down, CORRELATED * likely)) / 60,
        likely=likely / 60,
        high=(likely + max(up, CORRELATED * likely)) / 60,
        lines_to_change=len({line for part in parts for line in part.lines}),
        after_fix=sum(part.minutes_after_fix for part in parts) / 60,
        after_unsafe_fix=sum(part.minutes_after_unsafe_fix for part in parts) / 60,
    )


def _charge_offset(members: Sequence[Addend]) -> None:
    largest = max(members, key=lambda part: _offset(part, part.sites))
    largest.offset = _offset(largest, largest.sites)
    largest.offset_after_fix = max(
        _offset(part, [site for site in part.sites if site.credit != "safe"]) for part in members
    )


def _offset(part: Addend, sites: Sequence[Site]) -> float:
    return part.anchor.offset * max((CHANCE[site.finding.confidence] for site in sites), default=0.0)


def _anchor(level: Level, settings: EffortSettings) -> Anchor:
    own = settings.levels.get(level)
    return Anchor(*own) if own else ANCHORS[level]


def _lines(site: Site) -> Iterable[tuple[str, int | None, int]]:
    for finding in site.findings:
        if credit(finding) and finding.fix and finding.fix.edits:
            for edit in finding.fix.edits:
                for row in range(edit.place.location.row, edit.place.end_location.row + 1):
                    yield edit.filename, edit.cell, row
        else:
            yield finding.filename, finding.cell, finding.place.location.row
