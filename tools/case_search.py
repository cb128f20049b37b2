"""Which argument decides what an operator does: patterns found in observed calls.

A pattern is written as in `args` of a rule page: a constant, a list of constants, `{absent = true}` or
`{present = true}`, by parameter name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ABSENT = "<absent>"
Pattern = Any
Test = tuple[str, Pattern]  # parameter, pattern


@dataclass(frozen=True)
class Seen:
    """One observed call. `values` are arguments as data by parameter name; `outcome` is compared only."""

    values: Mapping[str, Any]
    outcome: str
    traits: Mapping[str, Any] = field(default_factory=dict)  # dimensions, training ...
    source: Any = None


def fits(when: Mapping[str, Pattern], values: Mapping[str, Any]) -> bool:
    return all(_fits(pattern, values.get(name, ABSENT)) for name, pattern in when.items())


def _fits(pattern: Pattern, value: Any) -> bool:
    if isinstance(pattern, dict):
        return (value == ABSENT) == ("absent" in pattern)
    if isinstance(pattern, list):
        return any(_fits(p, value) for p in pattern)
    if isinstance(pattern, bool) or isinstance(value, bool):
        return pattern is value
    return bool(pattern == value)


def separating(seen: Sequence[Seen], outcome: str, refused: Collection[str] = ()) -> list[Test]:
    """Tests that together hold for the calls with `outcome` and for no other one; as many calls as
    possible are covered, what cannot be told apart is left over."""
    wanted = [s for s in seen if s.outcome == outcome]
    others = [s for s in seen if s.outcome != outcome]
    tests: list[Test] = []
    while wanted and others:
        scored = [
            (len([s for s in wanted if fits({name: pattern}, s.values)]), rank, (name, pattern))
            for rank, (name, pattern) in _proposals(wanted, others)
            if f"{name}={pattern}" not in refused
        ]
        if not scored:
            break
        _, _, best = max(scored, key=lambda item: (item[0], item[1]))
        tests.append(best)
        wanted = [s for s in wanted if not fits({best[0]: best[1]}, s.values)]
    return tests


def _proposals(wanted: Sequence[Seen], others: Sequence[Seen]) -> Iterator[tuple[int, Test]]:
    """Tests that no other call fits, with a rank: words say more than numbers."""
    for name in sorted({name for s in (*wanted, *others) for name in s.values}):
        mine = [s.values.get(name, ABSENT) for s in wanted]
        theirs = [s.values.get(name, ABSENT) for s in others]
        if ABSENT in mine and ABSENT not in theirs:
            yield 2, (name, {"absent": True})
        if ABSENT in theirs and all(value == ABSENT for value in theirs) and any(v != ABSENT for v in mine):
            yield 2, (name, {"present": True})
        constants = [v for v in mine if _is_telling(v) and not any(_fits(v, t) for t in theirs)]
        distinct = list(dict.fromkeys((type(v), v) for v in constants))
        if distinct:
            values = sorted((v for _, v in distinct), key=str)
            rank = 3 if all(isinstance(v, str | bool) for v in values) else 1
            yield rank, (name, values[0] if len(values) == 1 else values)


def _is_telling(value: Any) -> bool:
    """Most numbers only come with the shape of the one call; 0 and 1 have a meaning of their own."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value in (-1, 0, 1)
    return isinstance(value, bool | str) and value != ABSENT


SEVERAL = 2  # calls on either side, before a property is believed to decide


def told_by_trait(seen: Sequence[Seen], outcome: str) -> str:
    """Words for a property of the call that decides: "for inputs of 3 dimensions"."""
    mine = [s for s in seen if s.outcome == outcome]
    theirs = [s for s in seen if s.outcome != outcome]
    if len(mine) < SEVERAL or len(theirs) < SEVERAL:
        return ""
    for name in sorted({name for s in mine for name in s.values}):
        if all(_is_tensor(s.values.get(name)) for s in mine) and not any(
            _is_tensor(s.values.get(name)) for s in theirs
        ):
            return f"when `{name}` is a tensor"
    for trait, words in _WORDS.items():
        here, there = ({s.traits.get(trait) for s in side} for side in (mine, theirs))
        if None not in here | there and not here & there:
            return " or ".join(words[value] for value in sorted(here))
    return ""


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and "shape" in value


_WORDS: Mapping[str, Mapping[Any, str]] = {
    "training": {True: "in training", False: "in evaluation"},
    "dimensions": {n: f"for an input of {n} dimension{'s' * (n != 1)}" for n in range(8)},
}
