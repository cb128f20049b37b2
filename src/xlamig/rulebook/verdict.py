"""`[[verdict]]` and `[[fix]]`: what a matched fact means on a target, and what can be written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from xlamig.config.settings import STYLES, TARGETS, Settings, Style, Target
from xlamig.facts import Fact
from xlamig.findings import Applicability
from xlamig.rulebook.conditions import Condition, compile_condition
from xlamig.rulebook.keys import Keys
from xlamig.rulebook.patterns import YES, Fit
from xlamig.rulebook.program import Program
from xlamig.rulebook.rulings import RULING_KEYS, Ruling, read_ruling, read_template
from xlamig.rulebook.strategies import check_strategy
from xlamig.rulebook.tables import Row
from xlamig.rulebook.templates import Template
from xlamig.rulebook.versions import admits, read_versions

APPLICABILITIES: tuple[Applicability, ...] = get_args(Applicability)


@dataclass(frozen=True, slots=True)
class When:
    """A condition per kind of fact that the rule matches; none at all always fits."""

    conditions: Mapping[str, Condition] = field(default_factory=dict)

    def fit(self, fact: Fact, row: Row | None, program: Program) -> Fit:
        condition = self.conditions.get(fact.kind)
        return YES if condition is None else condition(fact, row, program)


@dataclass(frozen=True, slots=True)
class Verdict:
    target: Target
    when: When
    from_row: bool
    ruling: Ruling
    versions: str | None = None

    def is_for(self, settings: Settings) -> bool:
        """Return whether it speaks of the target at hand, and of its version."""
        meant = self.target == settings.target and admits(self.versions, settings.version_of(self.target))
        return bool(meant) and (settings.preview or not self.ruling.preview)

    def rule(self, row: Row | None) -> Ruling | None:
        """The whole ruling; None is silence."""
        if not self.from_row:
            return self.ruling
        said = row.rulings.get(self.target) if row else None
        return said.over(self.ruling) if said else None


@dataclass(frozen=True, slots=True)
class FixRow:
    """One way to write the fix; `options` are what its strategy understands."""

    strategy: str
    applicability: Applicability
    target: Target | None = None
    style: Style | None = None
    requires: tuple[str, ...] = ()
    title: str | None = None
    words: Template | None = field(default=None, repr=False)  # what `title` is made from
    options: Mapping[str, Any] = field(default_factory=dict)
    when: When = field(default_factory=When)


VERDICT_KEYS = ("target", "versions", "when", "from-row", *RULING_KEYS)
_FIX_KEYS = ("strategy", "applicability", "target", "style", "requires", "title", "when")


def read_verdicts(keys: Keys, kinds: Collection[str], has_row: bool) -> Iterator[Verdict]:
    """Yield the verdict of a row for each of its targets."""
    targets = keys.choices("target", TARGETS, required=True)
    from_row = keys.flag("from-row", False)
    if from_row and not has_row:
        raise keys.where.at("from-row").error("no match has a table")
    if not from_row:
        for key in ("severity", "mechanism"):
            keys.text(key, required=True)
    when = _read_when(keys, kinds, has_row)
    ruling, versions = read_ruling(keys), read_versions(keys)
    yield from (Verdict(target, when, from_row, ruling, versions) for target in targets)


def read_fix(keys: Keys, kinds: Collection[str], has_row: bool) -> FixRow:
    """Return the fix row, its strategy and options checked; raises RulebookError."""
    options = {key: value for key, value in keys.values.items() if key not in _FIX_KEYS}
    row = FixRow(
        strategy=keys.text("strategy", required=True),
        applicability=keys.choice("applicability", APPLICABILITIES, required=True),
        target=keys.choice("target", TARGETS),
        style=keys.choice("style", STYLES),
        requires=keys.texts("requires"),
        title=keys.text("title"),
        words=read_template(keys, "title"),
        options=options,
        when=_read_when(keys, kinds, has_row),
    )
    check_strategy(row.strategy, options, keys.where)
    return row


def _read_when(keys: Keys, kinds: Collection[str], has_row: bool) -> When:
    patterns = keys.table("when")
    if not patterns:
        return When()
    where = keys.where.at("when")
    return When({kind: compile_condition(kind, patterns, where, kinds, has_row=has_row) for kind in kinds})
