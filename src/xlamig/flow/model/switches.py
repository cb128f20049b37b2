"""Switches: options that everything in a project leaves off, or on."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from xlamig import ir
from xlamig.flow.model.given import (
    INSTANCE,
    NOT,
    OFF,
    ON,
    ONLY_IF,
    SUPER,
    UNKNOWN,
    Calls,
    Given,
    Parameter,
    join_calls,
    option_of,
)
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

State = Literal["off", "on"]

_RANDOM = re.compile(r"rand|uniform|prob", re.IGNORECASE)
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.eq, "is not": operator.ne,
}  # fmt: skip
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Switches:
    """The states of the options of a project, from what its modules give."""

    def __init__(self, modules: Iterable[Given]) -> None:
        every = list(modules)
        self.tested = frozenset[str]().union(*(given.tested for given in every))
        self._values: dict[str, set[str]] = {}
        self._evident: set[str] = set()  # options of which more is known than the default of what nothing calls
        for given in every:
            for option, codes in given.values.items():
                self.give(option, codes)
        bases = frozenset[str]().union(*(given.bases for given in every))
        functions: dict[str, list[Parameter]] = {}
        for given in every:
            for name, parameters in given.parameters.items():
                functions.setdefault(name, []).extend(parameters)
        calls = _joined(every, functions)
        for name, params in functions.items():
            called = [c for c in (calls.get(name), calls.get(SUPER) if name in bases else None) if c]
            for param in params:
                self._pass(param, called)
        self._states: dict[str, State | None] = {}

    def forget(self) -> None:
        """Forget the states that were asked for before more was given."""
        self._states.clear()

    def give(self, option: str, codes: Iterable[str]) -> None:
        """Note values that are given to an option."""
        self._values.setdefault(option, set()).update(codes)
        self._evident.add(option)

    def _pass(self, param: Parameter, called: list[Calls]) -> None:
        if not called:
            self._values.setdefault(param.name, set()).add(param.default or UNKNOWN)
            return
        for calls in called:
            if 0 <= param.position < len(calls.positional):
                self.give(param.name, calls.positional[param.position] - {param.name})
            filled = 0 <= param.position < calls.least or param.name in calls.keywords
            if not filled:
                self.give(param.name, {param.default or UNKNOWN})

    def sources(self, options: Iterable[str]) -> frozenset[str]:
        """Return options, and those that their values come from."""
        found: set[str] = set()
        waiting = list(options)
        while waiting:
            option = waiting.pop()
            if option not in found:
                found.add(option)
                codes = self._values.get(option, ())
                waiting += [code.lstrip(NOT + ONLY_IF) for code in codes if code not in (OFF, ON, UNKNOWN)]
        return frozenset(found)

    def state(self, option: str) -> State | None:
        """Return the state that an option always has; None if it may have others."""
        if option not in self._states:
            self._states[option] = None
            if not table.name_like("mode").search(option):
                code = self._code(option, frozenset())
                self._states[option] = {OFF: "off", ON: "on"}.get(code)  # type: ignore[assignment]
        return self._states[option]

    def _code(self, option: str, above: frozenset[str]) -> str:
        """Return OFF, ON or UNKNOWN, "" if all values come from options `above` that are asked already."""
        seen = {option}
        waiting, found, evident, weak = [option], set[str](), False, False
        while waiting:
            one = waiting.pop()
            evident = evident or one in self._evident
            for code in self._values.get(one, {UNKNOWN}):
                if code[0] == NOT:
                    code = self._opposite(code[1:], above | seen)
                elif code[0] == ONLY_IF:
                    weak, code = True, code[1:]
                if code == UNKNOWN:
                    return UNKNOWN
                if code in (OFF, ON):
                    found.add(code)
                elif code and code not in seen:
                    seen.add(code)
                    waiting.append(code)
        if len(found) != 1:
            return UNKNOWN if found or not above else ""
        code = found.pop()
        return code if evident and not (weak and code == ON) else UNKNOWN

    def _opposite(self, option: str, above: frozenset[str]) -> str:
        if option in above:
            return ""
        code = self._code(option, above)
        return {OFF: ON, ON: OFF}.get(code, code)


def _joined(every: Iterable[Given], functions: Mapping[str, object]) -> dict[str, Calls]:
    """Return the calls by function; an object that no function is named after is an instance."""
    found: dict[str, Calls] = {}
    for given in every:
        for called, calls in given.calls.items():
            name = called
            if called.startswith(INSTANCE) and called != INSTANCE:
                method = called.removeprefix(INSTANCE)
                name = method if method in functions else INSTANCE
            found[name] = join_calls(found[name], calls) if name in found else calls
    return found


def outcome(test: ir.Expr, states: Mapping[str, State]) -> bool | None:
    """Return the outcome of a test that an option with a known state decides."""
    state = states.get(option_of(test))
    if state is not None:
        return state == "on"
    match test:
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            if states.get(option_of(right)) == "off" and op in ("<", "<=") and _is_random(left):
                return False
            if isinstance(left, ir.Const):
                left, op, right = right, _MIRRORED.get(op, op), left
            state = states.get(option_of(left))
            value = right.value if isinstance(right, ir.Const) else None
            if state is None or not isinstance(value, int | float) or op not in _COMPARED:
                return None
            if state == "on" and not isinstance(value, bool):
                return None
            return _COMPARED[op](state == "on", value)
    return None


def _is_random(node: ir.Expr) -> bool:
    return _RANDOM.search(path_of(node.func if isinstance(node, ir.Call) else node)) is not None
