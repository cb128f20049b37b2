"""Rates and tests that decide whether a call draws random numbers: dropout with a rate of 0 draws none.

Of a call that draws only if options say so, the uses of a module (see uses_of) hold its name and its limits,
each a group of keys of options: where all options of a group are 0 or off, the call draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.option_codes import (
    NO_NUMBER,
    NONE,
    OFF,
    ONLY_IF,
    TEXT,
    UNGIVEN,
    Codes,
    codes_of,
    is_constant,
    key_in,
    keys_in,
)
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.knowledge import values as table

_KEYWORDS = ("p", "dropout")
_RATES = {name: at for at in (0, 1, 3, 5) for name in table.names("draws", f"rate-at-{at}")}
_LIKE = table.names("draws", "like")
_METHODS = table.names("draws", "methods")
_NAMES = frozenset({*_RATES, *_LIKE, *_METHODS})
_DRAWING = table.names("draws", "keywords")
_DROPS = "drop"
_LIMIT, _KEY = "\t", " "  # before a limit, and between its keys
Branch = tuple[int, int, ir.Expr]
"""Where a branch starts and ends, and the test that it runs for."""
NO_LIMITS: frozenset[str] = frozenset()
NOTHING = ""
"""The limit of a call that draws nothing, whatever the options are."""
_ZERO = frozenset({OFF, NONE, NO_NUMBER, UNGIVEN, TEXT})


class Around:
    """The scope and the branches around a node, for a walk that comes to what stands last first: what begins
    after a node has ended before the walk comes to it."""

    def __init__(self, scope: Scope) -> None:
        self._scopes: list[tuple[int, Scope]] = [(0, scope)]
        self._branches: list[Branch] = []

    def enter(self, node: ir.Node, scopes: ScopeTable) -> None:
        """Note the scope that a node opens, or the branch that it may take."""
        match node:
            case ir.FunctionDef() | ir.ClassDef():
                self._leave(node)
                self._scopes.append((node.start, scopes.of(node)))
            case ir.If(body=(first, *_) as body):
                self._leave(node)
                self._branches.append((first.start, body[-1].end, node.test))
            case ir.IfExp(body=value):
                self._leave(node)
                self._branches.append((value.start, value.end, node.test))

    def limits(self, call: ir.Call) -> frozenset[str]:
        """Return the limits of a call that draws, a group of keys each."""
        self._leave(call)
        scope = self._scopes[-1][1]
        tests = (test for start, end, test in self._branches if start <= call.start < end)
        every = (*_rates(call, scope), *(codes_of(test, scope) for test in tests))
        return frozenset(limit for codes in every if (limit := _limit(codes)) is not None)

    def _leave(self, node: ir.Node) -> None:
        while self._scopes[-1][0] > node.start:
            self._scopes.pop()
        while self._branches and self._branches[-1][0] > node.start:
            self._branches.pop()


def draws_when_called(path: str) -> bool:
    """Return whether a function or class draws where it is called, by the last part of its name."""
    name = path.rpartition(".")[2]
    return name in _RATES or name in _LIKE


def may_draw(call: ir.Call) -> bool:
    """Return whether a call may draw, by its name or by a keyword."""
    func = call.func
    name = func.attr if isinstance(func, ir.Attribute) else path_of(func)
    return name in _NAMES or any(argument.keyword in _DRAWING for argument in call.args)


def rate_of(call: ir.Call) -> ir.Expr | None:
    """Return the rate that a call drops with; None for calls that drop nothing or by a default."""
    at = _RATES.get(path_of(call.func).rpartition(".")[2], -1)
    for i, argument in enumerate(call.args):
        if argument.keyword in _KEYWORDS[at < 0 :] or (i == at and not (argument.keyword or argument.star)):
            return argument.value
        if argument.star == "*":
            at = -1
    return None


def keys_of_rates(call: ir.Call, scope: Scope) -> Iterator[str]:
    """Yield the keys of the options that are the rate of a call which may draw."""
    for codes in _rates(call, scope) if may_draw(call) else ():
        yield from keys_in(codes)


def with_limits(name: str, limits: Iterable[str]) -> str:
    """Return a name as the uses of a module hold it."""
    return "".join((name, *(_LIMIT + limit for limit in sorted(limits))))


def split_limits(name: str) -> tuple[str, str]:
    """Return a name of the uses and its limits, as they are written behind it."""
    plain, mark, limits = name.partition(_LIMIT)
    return plain, mark + limits


def drawn(uses: str, states: Mapping[str, tuple[str, ...]]) -> str:
    """Return the uses of a module where options have these states, without limits."""
    if _LIMIT not in uses:
        return uses
    found = dict[str, None]()
    for line in uses.split("\n"):
        name, *limits = line.split(_LIMIT)
        if not any(_is_zero(limit, states) for limit in limits):
            found[name] = None
    return "\n".join((*found, "")) if len(found) > 1 else ""


def _is_zero(limit: str, states: Mapping[str, tuple[str, ...]]) -> bool:
    every = [states.get(key, ()) for key in limit.split(_KEY)]
    return all(state and all(map(_is_off, state)) for state in every)


def _is_off(code: str) -> bool:
    """Return whether a code stands for 0, None or False; parsers make numbers of "0"."""
    if code in _ZERO:
        return True
    try:
        return code.startswith(TEXT) and float(code.removeprefix(TEXT)) == 0
    except ValueError:
        return False


def _limit(codes: Codes) -> str | None:
    """Return the keys of the options that have to be 0 where an expression is; None if it may be another
    number whatever they are."""
    left = [code for code in codes if not (is_constant(code) and _is_off(code))]
    keys = sorted(code.removeprefix(ONLY_IF) for code in left)
    return _KEY.join(keys) if all(map(_is_key, keys)) else None


def _is_key(code: str) -> bool:
    return not is_constant(code) and key_in(code) == code and not any(map(str.isspace, code))


def _rates(call: ir.Call, scope: Scope) -> Iterator[Codes]:
    """Yield the codes of the rate of a call, and of the rates of a function that drops by what it draws."""
    rate = rate_of(call)
    if rate is not None:
        yield codes_of(rate, scope)
    function = scope.node
    if rate is None and isinstance(function, ir.FunctionDef) and _DROPS in scope.name.lower():
        codes = [codes_of(node, scope) for node in _rates_in(function, scope)]
        if codes:
            yield frozenset().union(*codes)


def _rates_in(function: ir.FunctionDef, scope: Scope) -> Iterator[ir.Expr]:
    """Yield the parameters of a function, and the attributes it reads, that are called like rates."""
    names = table.name_like("rate")
    rates = {param.name for param in function.params if names.search(param.name)}
    for node in ir.walk(function):
        if isinstance(node, ir.Name | ir.Attribute):
            path = path_of(node)
            if path in rates or (path.startswith("self.") and names.search(path.removeprefix("self."))):
                yield node
