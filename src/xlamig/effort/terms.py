"""Sites to minutes: the formula, its range and what fixes take off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from math import fsum, hypot

from xlamig.config.settings import EffortSettings
from xlamig.effort.model import (
    ANCHORS,
    CHANCE,
    CORRELATED,
    LINES,
    PYTHON,
    SPREAD,
    UNKNOWN_SPREAD,
    Anchor,
)
from xlamig.effort.plan import Hours, Term
from xlamig.effort.sites import Site
from xlamig.findings import Level, Phase


@dataclass(slots=True)
class Addend:
    """The sites of one rule at one level in one phase, and what they cost."""

    settings: EffortSettings
    code: str
    level: Level
    phase: Phase
    group: str
    anchor: Anchor
    sites: tuple[Site, ...]
    offset: float = 0.0
    offset_after_fix: float = 0.0

    def expected_sites(self, *credits: str | None) -> float:
        """Expected number of sites whose fix has one of these grades; of all without any."""
        chosen = [site for site in self.sites if not credits or site.credit in credits]
        return fsum(chance(site, self.settings) * site.weight for site in chosen)

    @property
    def minutes(self) -> float:
        return self.offset + self._cost(self.expected_sites())

    @property
    def minutes_after_fix(self) -> float:
        manual = self._cost(self.expected_sites(None, "unsafe"))
        return self.offset_after_fix + self._review_minutes(manual)

    @property
    def minutes_after_unsafe_fix(self) -> float:
        unfixed = self._cost(self.expected_sites(None))
        left = unfixed + self.settings.unsafe_share * (
            self._cost(self.expected_sites(None, "unsafe")) - unfixed
        )
        return self.offset_after_fix + self._review_minutes(left)

    @property
    def spread(self) -> tuple[float, float]:
        if self.level == "unknown":
            return UNKNOWN_SPREAD
        pairs = [SPREAD[site.finding.confidence] for site in self.sites]
        return fsum(low for low, _ in pairs) / len(pairs), fsum(high for _, high in pairs) / len(pairs)

    @property
    def lines(self) -> float:
        """Per site, where it is the first of a class or function at the top of a file."""
        return self.settings.lines.get(self.level, LINES[self.level])

    def term(self) -> Term:
        return Term(
            self.code, self.level, self.group, self.phase, len(self.sites), self.expected_sites(),
            self.offset, self.anchor.per_site, self.settings.exponent, self.minutes,
        )  # fmt: skip

    def _cost(self, expected: float) -> float:
        return self.anchor.per_site * expected**self.settings.exponent if expected else 0.0

    def _review_minutes(self, left: float) -> float:
        review = self.settings.safe_review_minutes * self.expected_sites("safe")
        return min(left + review, self._cost(self.expected_sites()))


def chance(site: Site, settings: EffortSettings) -> float:
    """How likely a site is real."""
    confidence = site.finding.confidence
    return settings.confidence.get(confidence, CHANCE[confidence])


def addends(sites: Iterable[Site], settings: EffortSettings) -> tuple[Addend, ...]:
    """One addend per rule, level and phase, with each group's offset charged once."""
    groups: dict[tuple[str, Level, Phase, str], list[Site]] = defaultdict(list)
    for site in sites:
        effort = site.finding.effort
        code = site.finding.code
        groups[code, effort.level, effort.phase, effort.group or code].append(site)
    made = tuple(
        Addend(settings, code, level, phase, group, _anchor(level, settings), tuple(found))
        for (code, level, phase, group), found in sorted(groups.items(), key=lambda pair: pair[0])
    )
    by_group: dict[str, list[Addend]] = defaultdict(list)
    for addend in made:
        by_group[addend.group].append(addend)
    for members in by_group.values():
        _charge_offset(members)
    return made


def total(parts: Sequence[Addend]) -> Hours:
    """Sum of the likely values; ranges combine in quadrature, down to a correlated floor. Lines
    to make it fast are apart: people leave them out of a port."""
    likely = sum(part.minutes for part in parts)
    down = hypot(*(part.minutes * (1 - part.spread[0]) for part in parts))
    up = hypot(*(part.minutes * (part.spread[1] - 1) for part in parts))
    return Hours(
        low=(likely - max(down, CORRELATED * likely)) / 60,
        likely=likely / 60,
        high=(likely + max(up, CORRELATED * likely)) / 60,
        lines_to_change=round(_lines([part for part in parts if part.phase != "fast"])),
        lines_fast=round(_lines([part for part in parts if part.phase == "fast"])),
        after_fix=sum(part.minutes_after_fix for part in parts) / 60,
        after_unsafe_fix=sum(part.minutes_after_unsafe_fix for part in parts) / 60,
    )


def difference(whole: Hours, rest: Hours) -> Hours:
    """Return the hours that are in the whole and not in the rest, never negative."""
    names = [entry.name for entry in fields(Hours)]
    left = Hours(**{name: max(0, getattr(whole, name) - getattr(rest, name)) for name in names})
    return replace(left, low=min(left.low, left.likely), high=max(left.high, left.likely))


def _lines(parts: Sequence[Addend]) -> float:
    """In each class or function at the top of a file, and among the file's own statements, the
    largest site in full and little for each other one: what is ported is read and changed as one."""
    places: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for part in parts:
        further = min(part.settings.lines_further, part.lines)
        for site in part.sites:
            sure = chance(site, part.settings) * site.weight
            name = site.finding.filename
            first = part.lines if name.endswith(PYTHON) else further
            places[name, site.finding.scope.split(".")[0]].append((sure * first, sure * further))
    gains = (max(first - further for first, further in sites) for sites in places.values())
    return fsum(gains) + fsum(further for sites in places.values() for _, further in sites)


def _charge_offset(members: Sequence[Addend]) -> None:
    largest = max(members, key=lambda part: _offset(part, part.sites))
    largest.offset = _offset(largest, largest.sites)
    largest.offset_after_fix = max(
        _offset(part, [site for site in part.sites if site.credit != "safe"]) for part in members
    )


def _offset(part: Addend, sites: Sequence[Site]) -> float:
    return part.anchor.offset * max((chance(site, part.settings) for site in sites), default=0.0)


def _anchor(level: Level, settings: EffortSettings) -> Anchor:
    own = settings.levels.get(level)
    return Anchor(*own) if own else ANCHORS[level]
