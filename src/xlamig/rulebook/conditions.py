"""A table of patterns, as in a match, an `unless` or a `when`, compiled for one kind of fact."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import Any

from xlamig.config.errors import did_you_mean
from xlamig.facts import Fact
from xlamig.rulebook.errors import Where
from xlamig.rulebook.patterns import NO, YES, Fit, Missing, Test, argument_test, compile_pattern
from xlamig.rulebook.program import PROGRAM_KEYS, Program, asks_imports, names_of
from xlamig.rulebook.shapes import KEYS, shapes
from xlamig.rulebook.tables import Row

Condition = Callable[[Fact, Row | None, Program], Fit]

_SPECIAL = ("unless", "row", "keyword", *PROGRAM_KEYS)


def compile_condition(
    kind: str,
    patterns: Mapping[str, object],
    where: Where,
    beside: Collection[str] = (),
    *,
    has_row: bool = False,
) -> Condition:
    """All `patterns` have to fit. A field that only the kinds `beside` have counts as missing."""
    # Who asks for `complete` has thought of `*args`: a missing argument is then taken as missing.
    unseen = Missing.ABSENT if "complete" in patterns else Missing.UNSEEN
    parts: list[Condition] = []
    for key, pattern in patterns.items():
        here = where.at(key)
        if key == "unless":
            tables = pattern if isinstance(pattern, list) else [pattern]
            parts += [_unless(kind, table, here, beside, has_row) for table in tables]
        elif key == "row":
            parts.append(_row(pattern, here, has_row))
        elif key == "keyword":
            parts.append(_keyword(pattern, here))
        elif key in PROGRAM_KEYS:
            parts.append(_program(key, pattern, here))
        else:
            shape = shapes(kind).get(key)
            if shape is None:
                parts.append(_elsewhere(key, pattern, here, kind, beside))
            elif shape.holds == "arguments":
                parts += _arguments(key, pattern, here, unseen)
            elif key == "scope":
                parts.append(_scope(compile_pattern(pattern, shape, here)))
            else:
                parts.append(_field(key, compile_pattern(pattern, shape, here)))
    if len(parts) == 1:
        return parts[0]

    def fit(fact: Fact, row: Row | None, program: Program) -> Fit:
        worst = YES
        for part in parts:
            worst = min(worst, part(fact, row, program))
            if worst == NO:
                break
        return worst

    return fit


def _field(name: str, test: Test) -> Condition:
    get = attrgetter(name)
    return lambda fact, row, program: test(get(fact))


def _scope(test: Test) -> Condition:
    """Test the name of a function; one that a single function calls is a part of that one."""
    return lambda fact, row, program: max([test(name) for name in (fact.scope, *fact.callers)])


def _elsewhere(key: str, pattern: object, where: Where, kind: str, beside: Collection[str]) -> Condition:
    for other in beside:
        shape = shapes(other).get(key)
        if shape is not None:
            if shape.holds == "arguments":
                tests = [argument_test(p, where.at(name)) for name, p in _table(pattern, where).items()]
                found = min([test(Missing.ABSENT) for test in tests], default=YES)
            else:
                found = compile_pattern(pattern, shape, where)(Missing.ABSENT)
            return lambda fact, row, program: found
    known = (*shapes(kind), *_SPECIAL)
    raise where.error(f"no field of {kind}{did_you_mean(key, known)}")


def _unless(kind: str, patterns: object, where: Where, beside: Collection[str], has_row: bool) -> Condition:
    if not _table(patterns, where):
        raise where.error("an empty table fits everything")
    test = compile_condition(kind, _table(patterns, where), where, beside, has_row=has_row)
    opposite: tuple[Fit, Fit, Fit] = (2, 1, 0)
    return lambda fact, row, program: opposite[test(fact, row, program)]


def _row(pattern: object, where: Where, has_row: bool) -> Condition:
    if not has_row:
        raise where.error("there is no row without a `table` in the match")
    test = compile_pattern(_table(pattern, where), KEYS, where)
    return lambda fact, row, program: test(row.values if row else {})


def _program(key: str, pattern: object, where: Where) -> Condition:
    names = names_of(pattern, where, "imported")
    imported = asks_imports(pattern, where)
    if key == "program":
        if imported:
            return lambda fact, row, program: NO if names.isdisjoint(program.imported) else YES
        return lambda fact, row, program: NO if names.isdisjoint(program.uses) else YES
    if imported:
        return lambda fact, row, program: YES if names <= program.not_imported else NO
    return lambda fact, row, program: YES if names <= program.absent else NO


def _keyword(pattern: object, where: Where) -> Condition:
    names = frozenset(keywords(pattern, where))
    return lambda fact, row, program: (
        NO if names.isdisjoint([a.name for a in getattr(fact, "args", ())]) else YES
    )


def keywords(pattern: object, where: Where) -> list[str]:
    """The plain words of a `keyword` pattern."""
    words: list[str] = []
    for word in pattern if isinstance(pattern, list) else [pattern]:
        if not isinstance(word, str) or not word.isidentifier():
            raise where.error(f"has to be a parameter's name, not {word!r}")
        words.append(word)
    return words


def _arguments(field: str, pattern: object, where: Where, unseen: Missing) -> list[Condition]:
    get = attrgetter(field)

    def look(name: str, test: Test) -> Condition:
        def fit(fact: Fact, row: Row | None, program: Program) -> Fit:
            for argument in get(fact):
                if argument.name == name:
                    return test(argument.value)
            complete = getattr(fact, "complete", True)
            return test(Missing.ABSENT if complete else unseen)

        return fit

    return [look(name, argument_test(p, where.at(name))) for name, p in _table(pattern, where).items()]


def _table(pattern: object, where: Where) -> dict[str, Any]:
    if not isinstance(pattern, dict):
        raise where.error(f"has to be a table, not {pattern!r}")
    return pattern
