"""Patterns of a rule page, compiled once to closures that say how well a value fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Literal

from xlamig.config.errors import did_you_mean
from xlamig.facts import Value
from xlamig.rulebook.errors import Where
from xlamig.rulebook.keys import no_such
from xlamig.rulebook.shapes import ANY, VALUE, VALUE_KINDS, Shape

Fit = Literal[0, 1, 2]
NO: Fit = 0
MAYBE: Fit = 1  # an argument that may stand in `*args` or `**kwargs`
YES: Fit = 2

Test = Callable[[Any], Fit]


class Missing(Enum):
    """A value that is not there, or not seen."""

    ABSENT = 0
    UNSEEN = 1


_OPERATORS = ("not", "absent", "present", "kind", "has", "only", "text")
_COMPARED = frozenset({"constant", "pattern", "device", "api"})
_EMPTY: tuple[object, ...] = (None, "", (), frozenset(), {}, Missing.ABSENT)


def compile_pattern(pattern: object, shape: Shape, where: Where) -> Test:
    """The test of one pattern; raises RulebookError if no value of `shape` could ever fit."""
    match pattern:
        case []:
            raise where.error("an empty list fits nothing")
        case list():
            return _any([compile_pattern(item, shape, where.at(i)) for i, item in enumerate(pattern)])
        case dict() if shape.holds in ("keys", "any") and not pattern.keys() & set(_OPERATORS):
            return _keys(pattern, where)
        case dict():
            return _operators(pattern, shape, where)
        case str() | int() | float():
            return _plain(pattern, shape, where)
    raise where.error(f"{pattern!r} is not a pattern")


def glob(pattern: str) -> Callable[[str], Any]:
    """`*` stands for any text; nothing else is special."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL).fullmatch


def _any(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda value: max([test(value) for test in tests])


def _keys(pattern: Mapping[str, object], where: Where) -> Test:
    tests = [(key, compile_pattern(p, ANY, where.at(key))) for key, p in pattern.items()]

    def fit(value: Any) -> Fit:
        found = value if isinstance(value, Mapping) else {}
        return min([test(found.get(key, Missing.ABSENT)) for key, test in tests], default=YES)

    return fit


def _operators(pattern: Mapping[str, object], shape: Shape, where: Where) -> Test:
    tests: list[Test] = []
    for name, operand in pattern.items():
        here = where.at(name)
        match name:
            case "absent" | "present":
                if operand is not True:
                    raise here.error("has to be true")
                tests.append(_absent if name == "absent" else _present)
            case "not":
                tests.append(_negation(compile_pattern(operand, shape, here)))
            case "kind" if shape.holds == "value":
                tests.append(_kind(operand, here))
            case "has" | "only" if shape.holds == "value":
                tests.append(_elements(compile_pattern(operand, shape, here), max if name == "has" else min))
            case "text" if shape.holds == "value":
                tests.append(_source_text(operand, here))
            case "kind" | "has" | "only" | "text":
                raise here.error("only fits an argument's value")
            case _:
                raise here.error(f"unknown pattern{did_you_mean(name, _OPERATORS)}")
    if not tests:
        raise where.error("an empty table is not a pattern")
    return lambda value: min([test(value) for test in tests])


def _absent(value: Any) -> Fit:
    if value is Missing.UNSEEN:
        return MAYBE
    return YES if value in _EMPTY else NO


def _present(value: Any) -> Fit:
    return NO if value is Missing.UNSEEN or value in _EMPTY else YES


def _negation(test: Test) -> Test:
    opposite: tuple[Fit, Fit, Fit] = (YES, MAYBE, NO)

    def fit(value: Any) -> Fit:
        result = opposite[test(value)]
        return MAYBE if value is Missing.UNSEEN and result == YES else result

    return fit


def _kind(operand: object, where: Where) -> Test:
    kinds = frozenset(operand if isinstance(operand, list) else [operand])
    for kind in kinds:
        if kind not in VALUE_KINDS:
            raise where.error(no_such(kind, VALUE_KINDS))
    return lambda value: YES if isinstance(value, Value) and value.kind in kinds else NO


def _source_text(operand: object, where: Where) -> Test:
    """Test the source text of an expression of unknown value."""
    texts = operand if isinstance(operand, list) else [operand]
    matches = [glob(text) for text in texts if isinstance(text, str)]
    if not matches or len(matches) < len(texts):
        raise where.error("has to be text or a list of texts")

    def fit(value: Any) -> Fit:
        if not isinstance(value, Value) or (value.kind in _COMPARED and value.value is not None):
            return NO
        return YES if any(match(str(value.value)) for match in matches) else NO

    return fit


def _elements(test: Test, choose: Callable[[list[Fit]], Fit]) -> Test:
    """Return the result of the element that fits best, or worst."""

    def fit(value: Any) -> Fit:
        items = value.items if isinstance(value, Value) else ()
        return choose([test(item) for item in items]) if items else NO

    return fit


def _plain(pattern: str | int | float, shape: Shape, where: Where) -> Test:
    if shape.holds == "presence":
        raise where.error("can only be asked for with { present = true } or { absent = true }")
    if shape.holds == "arguments":
        raise where.error("has to be a table of parameter names")
    if type(pattern) not in shape.types and not (type(pattern) is int and float in shape.types):
        names = " or ".join(sorted(t.__name__ for t in shape.types))
        raise where.error(f"{pattern!r} can never fit, the field holds {names}")
    equal = _equal(pattern)
    if shape.choices and not any(equal(choice) for choice in shape.choices):
        raise where.error(no_such(pattern, shape.choices))
    if shape.holds == "value":
        return lambda value: YES if equal(_comparable(value)) else NO
    if shape.holds == "scalar":
        return lambda value: YES if equal(value) else NO
    return _among(equal, shape.member)


def _among(equal: Callable[[Any], Any], member: Callable[[Any], Any] | None) -> Test:
    def fit(value: Any) -> Fit:
        if isinstance(value, (str, int, float, Missing)) or value is None:
            return YES if equal(value) else NO
        items: Iterable[Any] = value if member is None else map(member, value)
        return YES if any(map(equal, items)) else NO

    return fit


def _equal(pattern: str | int | float) -> Callable[[Any], Any]:
    if isinstance(pattern, bool):
        return lambda value: value is pattern
    if isinstance(pattern, str):
        if "*" in pattern:
            matches = glob(pattern)
            return lambda value: isinstance(value, str) and matches(value)
        return lambda value: value == pattern
    return lambda value: value == pattern and not isinstance(value, bool)


def _comparable(value: Any) -> Any:
    """Return the text or number of an argument; nothing equals the source text of an expression."""
    return value.value if isinstance(value, Value) and value.kind in _COMPARED else Missing.UNSEEN


def argument_test(pattern: object, where: Where) -> Test:
    """The test of an argument's `Value`, or of a Missing."""
    return compile_pattern(pattern, VALUE, where)
