"""The data of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from xlamig.findings import Level, Phase, Provenance

if TYPE_CHECKING:
    from xlamig.effort.comparison import Economics, StepCosts
    from xlamig.effort.fill import Fill
    from xlamig.effort.placement import Stage

Verdict = Literal["nothing", "ready", "easy", "moderate", "hard", "blocked"]


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of work as the code stands; `after_fix` is what `--fix` leaves, `after_unsafe_fix`
    what `--fix --unsafe-fixes` leaves, reading the changes included. Lines are deleted and added
    ones, those to make it fast apart, and add up to those of the whole where parts share no file."""

    low: float = 0.0
    likely: float = 0.0
    high: float = 0.0
    lines_to_change: int = 0
    lines_fast: int = 0
    after_fix: float = 0.0
    after_unsafe_fix: float = 0.0


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines to delete and add until it runs, is correct and scales. `fixed` of the `likely` ones are
    in any port; those to make it `fast` are not among them."""

    low: int
    likely: int
    high: int
    fixed: float
    fast: int


@dataclass(frozen=True, slots=True)
class Term:
    """One addend: offset_minutes + per_site_minutes * expected_sites ** exponent = minutes.

    `expected_sites` weighs each of the `sites` by its confidence and weight. The offset of a
    group is charged to one of its terms, the others have 0.
    """

    code: str
    level: Level
    group: str
    phase: Phase
    sites: int
    expected_sites: float
    offset_minutes: float
    per_site_minutes: float
    exponent: float
    minutes: float


@dataclass(frozen=True, slots=True)
class Item:
    """The work one rule asks for within a phase. `needs` are the codes of the phase plans' items
    that come first, `unblocks` those that wait for this one."""

    code: str
    name: str
    filenames: tuple[str, ...]
    findings: int
    sites: int
    hours: Hours
    verify: str
    command: str = ""
    counter: str = ""
    needs: tuple[str, ...] = ()
    unblocks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """The share of tests or examples in the whole."""

    name: str
    sites: int
    weight: float
    hours: Hours


@dataclass(frozen=True, slots=True)
class PhasePlan:
    phase: Phase
    title: str
    hours: Hours
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Family:
    prefix: str
    title: str
    sites: int
    hours: Hours


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the code is touched: API uses that need no change, are rewritten by a fix
    (`safe`, or `unsafe` on request), or are left to people."""

    files: int
    files_affected: int
    lines: int
    sites: int
    unchanged: int
    fixable: int
    unsafe_fixable: int
    manual: int


@dataclass(frozen=True, slots=True)
class Dominance:
    """One rule makes up most of the total: worth a look before the total is believed."""

    code: str
    name: str
    sites: int
    share: float


@dataclass(frozen=True, slots=True)
class Stack:
    """A training or serving stack in use, what to do about it, and what the code has that it concerns."""

    message: str
    advice: str
    concerns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """The remaining work at a commit."""

    revision: str
    date: str
    subject: str
    verdict: Verdict
    hours: Hours


@dataclass(frozen=True, slots=True)
class Plan:
    target: str
    verdict: Verdict
    verdict_reason: str
    coverage: Coverage
    hours: Hours
    phases: tuple[PhasePlan, ...]
    families: tuple[Family, ...]
    optional: tuple[Item, ...]  # worthwhile, not needed, not in any total
    sides: tuple[Side, ...]
    fixed_low: float
    fixed_high: float
    lines: Lines
    hours_per_day: float
    dominant: Dominance | None
    terms: tuple[Term, ...]
    stages: tuple[Stage, ...] = ()
    crossings: tuple[str, ...] = ()
    fills: tuple[Fill, ...] = ()
    economics: Economics | None = None
    step: StepCosts | None = None  # from a fit
    history: tuple[Point, ...] = ()  # oldest first
    stacks: tuple[Stack, ...] = ()
    on_xla: tuple[str, ...] = ()  # nothing of these has to be ported
    without_work: int = 0  # findings that ask for nothing
    in_tests: int = 0  # findings that a check only counts
    provenance: Provenance | None = None

    @property
    def whole(self) -> tuple[float, float, float]:
        """Hours of everything, low, likely and high: the findings' and those that no finding shows."""
        fixed = (self.fixed_low + self.fixed_high) / 2
        return self.hours.low + self.fixed_low, self.hours.likely + fixed, self.hours.high + self.fixed_high
