"""The outcome of a test of options whose possible values are known."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from xlamig.flow.model.conditions import INFINITY, MAIN, Condition
from xlamig.flow.model.option_codes import (
    CUDA,
    FINITE,
    NO_CUDA,
    NONE,
    NOT,
    OFF,
    ON,
    ONLY_IF,
    TEXT,
    UNGIVEN,
    UNKNOWN,
    WITHIN,
    is_constant,
    opposite,
)

State = tuple[str, ...]
"""The codes of all values that an option may have, in order; none if there may be others."""
NO_STATE: State = ()
States = Mapping[str, State]

_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.eq, "is not": operator.ne,
}  # fmt: skip
_EQUAL: Mapping[str, Callable[[object, object], bool]] = {
    "==": operator.eq, "!=": operator.ne, "is": operator.eq, "is not": operator.ne,
}  # fmt: skip
_OF_EQUALS = frozenset({"==", "!=", "in", "not in"})
_OF_ORDER = frozenset({"<", "<=", ">", ">="})
_TRUTH = {OFF: False, NONE: False, ON: True, FINITE: True, TEXT: True, CUDA: False, NO_CUDA: True}
_OF_CUDA = frozenset({CUDA, NO_CUDA})
_NUMERIC = frozenset({OFF, FINITE})  # ON may stand for an option that is named without its value
_WRITTEN = re.compile(r"[-+.\d].*|true|false|yes|no|on|off|null|none|", re.IGNORECASE)
"""The strings that settings may hold and another code stands for: `"0"`, `off`."""


class Outcome(NamedTuple):
    """The outcome that a test always has, None for one that may have both; `of_cuda` if that is so because
    there is no CUDA."""

    holds: bool | None
    of_cuda: bool = False


UNDECIDED = Outcome(None)


def outcome(condition: Condition, states: States) -> Outcome:
    """Return the outcome of a test, from the states of the options by key."""
    match condition.kind:
        case "not":
            found = outcome(condition.parts[0], states)
            return found if found.holds is None else Outcome(not found.holds, found.of_cuda)
        case "and" | "or":
            return _joined([outcome(part, states) for part in condition.parts], condition.kind == "or")
        case "main":
            return Outcome(False) if MAIN in states else UNDECIDED
        case "cuda":
            return Outcome(False, of_cuda=True)
        case "unknown" | "chosen":
            return UNDECIDED
    state = _state(condition, states)
    exact = CUDA in state  # other numbers are tuned
    outcomes = {_of_value(code, condition, exact) for code in state}
    return Outcome(outcomes.pop(), not _OF_CUDA.isdisjoint(state)) if len(outcomes) == 1 else UNDECIDED


def most_of(codes: Iterable[str], states: States) -> float | None:
    """Return the largest number that an option has anywhere in the project, None if it may have others."""
    parts = [_state_of(code, states) for code in codes]
    numbers = [_number(code) for part in parts for code in part]
    known = [number for number in numbers if number is not None]
    return max(known, default=None) if all(parts) and len(known) == len(numbers) else None


def _number(code: str) -> float | None:
    """Return the number that a code says; settings may say that it is some other one."""
    if code[0] == FINITE:
        return float(code[1:]) if code != FINITE else None
    return {OFF: 0.0, ON: 1.0}.get(code)


def _joined(parts: Iterable[Outcome], decides: bool) -> Outcome:
    """Return the outcome of `a or b`, which a part that `decides` ends, or of `a and b`."""
    every = list(parts)
    deciding = [part for part in every if part.holds is decides]
    if deciding:
        return min(deciding, key=lambda part: part.of_cuda)
    known = all(part.holds is not None for part in every)
    return Outcome(not decides, any(part.of_cuda for part in every)) if known else UNDECIDED


def _state(condition: Condition, states: States) -> State:
    """Return the codes of all values that what a condition asks for may have; none if others are possible."""
    parts = [_state_of(code, states) for code in condition.codes]
    return tuple(frozenset(code for part in parts for code in part)) if all(parts) else NO_STATE


def _state_of(code: str, states: States) -> State:
    if is_constant(code):
        return NO_STATE if code == UNKNOWN else (code,)
    if code[0] == NOT:
        return tuple(map(opposite, states.get(code[1:], NO_STATE)))
    if code[0] == ONLY_IF:
        state = states.get(code[1:], NO_STATE)
        return state if all(one in (OFF, CUDA) for one in state) else NO_STATE
    if code[0] == WITHIN:
        return tuple(WITHIN + one for one in states.get(code[1:], NO_STATE))
    return states.get(code, NO_STATE)


def _of_value(code: str, condition: Condition, exact: bool) -> bool | None:
    """Return the outcome for one value of an option."""
    if code[0] == WITHIN:
        return _of_part(code[1:], condition)
    match condition:
        case Condition("truth"):
            return _TRUTH.get(code[0]) if code != TEXT else False
        case Condition("drawn"):
            return False if code == OFF else None
        case Condition("contains", _, op, value):
            known = code[0] == TEXT and isinstance(value, str)
            return (str(value) in code[1:]) is (op == "in") if known else None
        case Condition("compare", _, op, value) if value == INFINITY and code[0] in (OFF, FINITE):
            return (op == "!=") if op in ("==", "!=") else None
        case Condition("compare", _, op, value) if code[0] in (TEXT, NONE):
            return _of_text(code, op, value)
        case Condition("compare", _, op, str() | tuple() as value) if code[0] in _NUMERIC:
            return _of_other(op, value)
        case Condition("compare", _, op, value):
            return _of_number(code, op, value, exact)
    return None


def _of_part(code: str, condition: Condition) -> bool | None:
    """Return the outcome for a part of a string, which is none of the strings that are not in all of it."""
    asked = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if condition.kind not in ("contains", "compare") or condition.op not in _OF_EQUALS or code[0] != TEXT:
        return None
    whole = code[1:].lower()
    is_in = any(not isinstance(value, str) or value.lower() in whole for value in asked)
    return None if is_in else condition.op in ("!=", "not in")


def _of_number(code: str, op: str, value: object, exact: bool) -> bool | None:
    if not isinstance(value, int | float) or op not in _NUMBERS:
        return None
    if code[0] == FINITE and not (exact or _is_sentinel(code, op, value)):
        return None
    if code in (ON, NO_CUDA) and not isinstance(value, bool):
        return None
    number = float(code[1:]) if code[0] == FINITE else float(code in (ON, NO_CUDA))
    return _NUMBERS[op](number, value)


def _is_sentinel(code: str, op: str, value: float) -> bool:
    """Return whether a number says that something is off, as 0 does: `n > 0` and `n != -1` where `n` is -1,
    and `p < 1.0` where `p` is 1.0."""
    number = _number(code)
    if number is None:
        return False
    neutral = number == value and isinstance(value, float) and op in ("<", ">", "!=")
    return neutral or (number < 0 and (number == value or (value == 0 and op in _OF_ORDER)))


def _of_text(code: str, op: str, value: object) -> bool | None:
    """Return the outcome of a comparison of a string, or of None, for which an order raises."""
    text = code[1:] if code[0] == TEXT else None
    if text is None and op in _OF_ORDER:
        return False
    if text is None and isinstance(value, str) and value.lower() in ("none", "null"):
        return None  # settings may have it as a string
    if code == UNGIVEN and value is not None:
        return None  # somebody who chooses between strings has to give one
    if isinstance(value, tuple):
        return (text in value) is (op == "in")
    known = op in _EQUAL and (text is not None or value is None or isinstance(value, str))
    return _EQUAL[op](text, value) if known else None


def _of_other(op: str, value: str | tuple[object, ...]) -> bool | None:
    """Return the outcome of a comparison of a number with strings; a setting may have it as a string."""
    values = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(one, str) and not _WRITTEN.fullmatch(one) for one in values):
        return None
    return {"==": False, "in": False, "!=": True, "not in": True}.get(op)
