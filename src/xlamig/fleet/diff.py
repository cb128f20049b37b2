"""Compare two scans, of one folder or of two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xlamig.engine import UsageError
from xlamig.fleet.query import Fleet

_DATED = re.compile(r"(.+)@(\d{4}-\d\d-\d\d)")
_NUMBERS = "status, verdict, likely_hours, findings, revision, settings"
_MOST = 20  # rules that are listed


@dataclass(frozen=True, slots=True)
class Change:
    """A repository in both scans; hours are None where a scan failed."""

    name: str
    before: str
    after: str
    hours_before: float | None
    hours_after: float | None
    new: int
    gone: int

    @property
    def hours(self) -> float:
        if self.hours_before is None or self.hours_after is None:
            return 0.0
        return self.hours_after - self.hours_before


@dataclass(frozen=True, slots=True)
class Difference:
    """`rules` are (code, name, findings that came, findings that went), those that changed most first."""

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    unchanged: int
    rules: tuple[tuple[str, str, int, int], ...]

    def document(self) -> dict[str, Any]:
        return {"schema_version": "1.0", **asdict(self)}


def open_side(text: str) -> Fleet:
    """`OUT`, or `OUT@2026-11-22`. Raises UsageError as `Fleet`."""
    dated = _DATED.fullmatch(text)
    return Fleet(Path(dated[1]), dated[2]) if dated else Fleet(Path(text))


def compare(old: Fleet, new: Fleet) -> Difference:
    """Raises UsageError where both are the same scan."""
    if (old.out.resolve(), old.date) == (new.out.resolve(), new.date):
        others = [date for date in old.dates if date != old.date]
        hint = f"name another, as in {old.out}@{others[-1]}" if others else "there is no other yet"
        raise UsageError(f"both sides are the scan {old.out}@{old.date}: {hint}")
    before, after = _repositories(old), _repositories(new)
    both = before.keys() & after.keys()
    differing = {name for name in both if before[name] != after[name]}
    came, went, rules = _findings(old, new, differing)
    changes = (
        Change(
            name,
            _state(before[name]),
            _state(after[name]),
            before[name][2],
            after[name][2],
            came.get(name, 0),
            went.get(name, 0),
        )
        for name in differing
    )
    ranked = tuple(sorted(changes, key=lambda change: (change.hours, change.name)))
    return Difference(
        f"{old.out}@{old.date}",
        f"{new.out}@{new.date}",
        tuple(sorted(after.keys() - both)),
        tuple(sorted(before.keys() - both)),
        ranked,
        len(both) - len(ranked),
        rules,
    )


def _repositories(fleet: Fleet) -> dict[str, tuple[Any, ...]]:
    return {name: rest for name, *rest in fleet.rows(f"SELECT name, {_NUMBERS} FROM repositories")}  # type: ignore[misc]


def _state(row: tuple[Any, ...]) -> str:
    return str(row[1] if row[0] == "ok" else row[0])


def _findings(
    old: Fleet, new: Fleet, names: set[str]
) -> tuple[dict[str, int], dict[str, int], tuple[tuple[str, str, int, int], ...]]:
    """How many findings came and went, by repository and by rule. One repository at a time is compared,
    so that memory does not grow with the number of findings."""
    came: dict[str, int] = {}
    went: dict[str, int] = {}
    rules: dict[tuple[str, str], list[int]] = {}
    for name in sorted(names):
        before, after = _count_findings(old, name), _count_findings(new, name)
        for (code, rule, *_), change in _changes(before, after):
            side = came if change > 0 else went
            side[name] = side.get(name, 0) + abs(change)
            rules.setdefault((code, rule), [0, 0])[change < 0] += abs(change)
    ranked = sorted(rules.items(), key=lambda item: (-sum(item[1]), item[0]))
    return came, went, tuple((*rule, *counts) for rule, counts in ranked[:_MOST])  # type: ignore[misc]


def _count_findings(fleet: Fleet, name: str) -> dict[tuple[str, ...], int]:
    """Findings by rule, file and fingerprint."""
    columns = "code, name, filename, fingerprint"
    query = f"SELECT {columns}, count(*) FROM findings WHERE repository = ? GROUP BY ALL"
    return {tuple(key): count for *key, count in fleet.rows(query, name)}


def _changes(
    before: dict[tuple[str, ...], int], after: dict[tuple[str, ...], int]
) -> Iterator[tuple[tuple[str, ...], int]]:
    for key in sorted(before.keys() | after.keys()):
        change = after.get(key, 0) - before.get(key, 0)
        if change:
            yield key, change
