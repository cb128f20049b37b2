"""Switches: options that everything in a project leaves off, or on."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from xlamig import ir
from xlamig.flow.model.given import INSTANCE, SUPER, Calls, Given, Parameter, join_calls
from xlamig.flow.model.option_codes import NOT, OFF, ON, ONLY_IF, UNKNOWN, option_of
from xlamig.knowledge import values as table

State = Literal["off", "on"]
MAIN = "__main__"
"""The option, as it were, that a module is run itself."""

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.eq, "is not": operator.ne,
}  # fmt: skip
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Switches:
    """The states of the options of a project, from what its modules give. A project that `never_trains`
    leaves its modules in the mode for evaluation."""

    def __init__(self, modules: Iterable[Given], never_trains: bool = False) -> None:
        every = list(modules)
        self.tested = frozenset[str]().union(*(given.tested for given in every))
        self._values: dict[str, set[str]] = {}
        self._evident: set[str] = (
            set()
        )  # options of which more is known than the default of what nothing calls
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
        self._states: dict[str, State | None] = {"training": "off"} if never_trains else {}

    def give(self, option: str, codes: Iterable[str]) -> None:
        """Note values that are given to an option."""
        given = self._values.setdefault(option, set())
        given.update(codes)
        if OFF in given or ON in given:
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

    def undecided(self) -> frozenset[str]:
        """Return the options that tests ask for and no module gives an unknown value, with their sources."""
        asked = (option for option in self.tested if option in self._values and not _is_mode(option))
        return self.sources(set(asked) - self._unknown())

    def _unknown(self) -> set[str]:
        """Return the options that an unknown value may come to."""
        takers: dict[str, list[str]] = {}
        for option, codes in self._values.items():
            for code in codes - {OFF, ON, UNKNOWN}:
                takers.setdefault(_source(code), []).append(option)
        found: set[str] = set()
        waiting = [option for option, codes in self._values.items() if UNKNOWN in codes]
        while waiting:
            option = waiting.pop()
            if option not in found:
                found.add(option)
                waiting += takers.get(option, ())
        return found

    def sources(self, options: Iterable[str]) -> frozenset[str]:
        """Return options, and those that their values come from."""
        found: set[str] = set()
        waiting = list(options)
        while waiting:
            option = waiting.pop()
            if option not in found:
                found.add(option)
                codes = self._values.get(option, ())
                waiting += [_source(code) for code in codes if code not in (OFF, ON, UNKNOWN)]
        return frozenset(found)

    def state(self, option: str) -> State | None:
        """Return the state that an option always has; None if it may have others."""
        if option not in self._states:
            self._states[option] = None
            if not _is_mode(option):
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


def _source(code: str) -> str:
    """Return the option that a value comes from, of a code that is no constant."""
    return code.lstrip(NOT + ONLY_IF)


def _joined(every: Iterable[Given], functions: Mapping[str, object]) -> dict[str, Calls]:
    """Return the calls by function; an object that no function is named after is an instance."""
    found: dict[str, Calls] = {}
    for given in every:
        for called, calls in given.calls.items():
            name = called
            if called.startswith(INSTANCE) and called != INSTANCE:
                method = called.removeprefix(INSTANCE)
                name = method if method in functions else INSTANCE
            if name not in functions and name != SUPER:
                continue
            found[name] = join_calls(found[name], calls) if name in found else calls
    return found


def _is_mode(option: str) -> bool:
    """Return whether an option is a way to run the program, which users choose between."""
    return table.name_like("mode").search(option) is not None


def outcome(test: ir.Expr, states: Mapping[str, State], is_random: Callable[[ir.Expr], bool]) -> bool | None:
    """Return the outcome of a test that an option with a known state decides; `is_random` tells whether an
    expression is drawn from [0, 1)."""
    state = states.get(option_of(test))
    if state is not None:
        return state == "on"
    match test:
        case ir.Compare(left=ir.Name(id="__name__"), ops=("==",), comparators=(ir.Const(value=name),)):
            return False if name == MAIN and MAIN in states else None
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            if states.get(option_of(right)) == "off" and op in ("<", "<=") and is_random(left):
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
