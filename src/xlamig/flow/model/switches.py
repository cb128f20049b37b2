"""Switches: options that everything in a project leaves off, or on."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from xlamig import ir
from xlamig.flow.model.given import INSTANCE, SUPER, Calls, Given, Parameter, join_calls
from xlamig.flow.model.option_codes import CONSTANTS, FINITE, NOT, OFF, ON, ONLY_IF, READ, UNKNOWN, option_of
from xlamig.knowledge import values as table

State = Literal["off", "on", "finite"]
_KNOWN = CONSTANTS - {UNKNOWN}
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
        self._explicit: set[str] = set()  # options that something gives a known value
        self._evident: set[str] = set()  # those, and the defaults that calls leave
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
        if self._note(option, codes):
            self._explicit.add(option)

    def _note(self, option: str, codes: Iterable[str]) -> bool:
        """Note values that an option may have; return whether any is known."""
        given = frozenset(codes)
        self._values.setdefault(option, set()).update(given)
        known = not given.isdisjoint(_KNOWN)
        if known:
            self._evident.add(option)
        return known

    def _pass(self, param: Parameter, called: list[Calls]) -> None:
        if not called:
            self._values.setdefault(param.name, set()).add(param.default or UNKNOWN)
            return
        for calls in called:
            if 0 <= param.position < len(calls.positional):
                self.give(param.name, calls.positional[param.position] - {param.name})
            filled = 0 <= param.position < calls.least or param.name in calls.keywords
            if not filled:
                self._note(param.name, {param.default or UNKNOWN})

    def undecided(self) -> frozenset[str]:
        """Return the options that tests ask for and no module gives an unknown value, with their sources."""
        asked = (option for option in self.tested if option in self._values and not _is_mode(option))
        return self.sources(set(asked) - self._unknown())

    def _unknown(self) -> set[str]:
        """Return the options that an unknown value may come to."""
        takers: dict[str, list[str]] = {}
        for option, codes in self._values.items():
            for code in codes - CONSTANTS:
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
                waiting += [_source(code) for code in codes if code not in CONSTANTS]
        return frozenset(found)

    def state(self, option: str) -> State | None:
        """Return the state that an option always has; None if it may have others."""
        if option not in self._states:
            self._states[option] = None
            if not _is_mode(option):
                code = self._code(option, frozenset())
                self._states[option] = {OFF: "off", ON: "on", FINITE: "finite"}.get(code)  # type: ignore[assignment]
        return self._states[option]

    def _code(self, option: str, above: frozenset[str]) -> str:
        """Return a constant's code, "" if all values come from options `above` that are asked already."""
        seen = {option}
        waiting, found, evident, weak, read = [option], set[str](), False, False, False
        while waiting:
            one = waiting.pop()
            evident = evident or one in self._evident
            for code in self._values.get(one, {UNKNOWN}):
                read = read or code == READ + one
                code = code.removeprefix(READ)
                if code[0] == NOT:
                    code = self._opposite(code[1:], above | seen)
                elif code[0] == ONLY_IF:
                    weak, code = True, code[1:]
                if code == UNKNOWN:
                    return UNKNOWN
                if code in CONSTANTS:
                    found.add(code)
                elif code and code not in seen:
                    seen.add(code)
                    waiting.append(code)
        if len(found) != 1:
            return UNKNOWN if found or not above else ""
        if read and self._explicit.isdisjoint(seen):
            return UNKNOWN  # `f(x=args.x)`: what sets it there is not known
        code = found.pop()
        return code if evident and not (weak and code != OFF) else UNKNOWN

    def _opposite(self, option: str, above: frozenset[str]) -> str:
        if option in above:
            return ""
        code = self._code(option, above)
        return {OFF: ON, ON: OFF, FINITE: OFF}.get(code, code)


def _source(code: str) -> str:
    """Return the option that a value comes from, of a code that is no constant."""
    return code.lstrip(NOT + ONLY_IF + READ)


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
        return state != "off"
    match test:
        case ir.Compare(left=ir.Name(id="__name__"), ops=("==",), comparators=(ir.Const(value=name),)):
            return False if name == MAIN and MAIN in states else None
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            if op in ("==", "!=") and _is_infinity(right):
                return (op == "!=") if states.get(option_of(left)) in ("off", "finite") else None
            if states.get(option_of(right)) == "off" and op in ("<", "<=") and is_random(left):
                return False
            if isinstance(left, ir.Const):
                left, op, right = right, _MIRRORED.get(op, op), left
            state = states.get(option_of(left))
            value = right.value if isinstance(right, ir.Const) else None
            if state in (None, "finite") or not isinstance(value, int | float) or op not in _COMPARED:
                return None
            if state == "on" and not isinstance(value, bool):
                return None
            return _COMPARED[op](state == "on", value)
    return None


def _is_infinity(node: ir.Expr) -> bool:
    """`inf`, `math.inf`, `float("inf")`"""
    match node:
        case ir.Name(id="inf") | ir.Attribute(attr="inf"):
            return True
        case ir.Call(func=ir.Name(id="float"), args=(ir.Arg(value=ir.Const(value="inf")),)):
            return True
    return False
