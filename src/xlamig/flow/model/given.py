"""Collect the values that a module gives to options: arguments, attributes, defaults and entries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.asked import keys_asked, keys_asked_by_call
from xlamig.flow.model.callees import HANDED, callee_of, named_in
from xlamig.flow.model.class_constants import member_text
from xlamig.flow.model.conditions import count_of
from xlamig.flow.model.cuda_questions import asks_availability
from xlamig.flow.model.decorators import is_plain
from xlamig.flow.model.defined_options import codes_defined, codes_of_field
from xlamig.flow.model.destinations import destination
from xlamig.flow.model.given_calls import MOST_STARRED, PASSED_ON, STARRED, Calls, Parameter, join_calls
from xlamig.flow.model.inner import is_inside
from xlamig.flow.model.kept import kept_in
from xlamig.flow.model.lowered_keys import LOWERED, lowers_keys
from xlamig.flow.model.option_codes import (
    ANY,
    ATTRIBUTE,
    ENTRY,
    FALLBACK,
    GLOBAL,
    INSTANCE,
    ON,
    UNKNOWN,
    Codes,
    codes_of,
    entry_key,
    function_name,
    is_constant,
    kept_key,
    name_of,
    option_of,
    otherwise,
)
from xlamig.flow.model.replaced_options import is_replaced
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.settings_reads import as_data, codes_set, entries_asked, entries_of, settings_set
from xlamig.flow.model.starred import starred_key

_SETS = re.compile(r"^(?:enable|set|use|activate|turn_on|supports)_(\w+)$|^(\w+)_(?:enable|enabled|on)$")
_DEFINES = frozenset({"add_argument", "option", "Option", "add_option"})
_NONE: Codes = frozenset()
_CALLS_ONCE = frozenset({"partial", "checkpoint", "isinstance", "issubclass"})
_LOOKS_AT = "inspect."  # whose functions call nothing of what they are handed


class Given(NamedTuple):
    """The values that a module gives, by the key of the option; its calls and parameters, by function; the
    bases of its classes, coded like calls; the keys of the options that its tests ask for; the names that it
    hands to calls, which may be functions; the names of its functions and classes, those at its top and the
    `inner`; and the functions that are `kept` as values or decorated, which may be called unseen, with the
    keys of the entries that they may be called with. `assigned` are the values that functions give to what
    they assign, by their scope: they count only if the function runs. `parsed` are the options that its own
    parser defines; `settings` are the entries that its tests ask settings for, `foreign` those that they
    ask other objects for; `replaced` those that it parses and sets again itself."""

    values: Mapping[str, Codes]
    calls: Mapping[str, Calls]
    parameters: Mapping[str, tuple[Parameter, ...]]
    bases: Mapping[str, tuple[str, ...]]
    tested: Codes
    handed: Codes
    own: Codes
    inner: Codes
    kept: Codes
    assigned: Mapping[str, Mapping[str, Codes]]
    parsed: Codes
    settings: Codes
    foreign: Codes
    replaced: Codes

    def in_reach(self, idle: Collection[str] = ()) -> Given:
        """Return the same with all values that count; `idle` are the scopes of what nothing runs."""
        values = {key: set(codes) for key, codes in self.values.items()}
        for scope, assigned in self.assigned.items():
            if not is_inside(scope, idle):
                for key, codes in assigned.items():
                    values.setdefault(key, set()).update(codes)
        found = {key: frozenset(codes) for key, codes in values.items()}
        return self._replace(values=found, assigned={})

    def assigned_in(self, scopes: Collection[str]) -> frozenset[str]:
        """Return the keys of what these scopes assign to."""
        found = (assigned for scope, assigned in self.assigned.items() if is_inside(scope, scopes))
        return frozenset().union(*found)


def given_in(statement: ir.Stmt, scopes: ScopeTable) -> Given:
    """Return what a statement at the top of a module gives."""
    return _Collector(scopes).collect(statement)


_LEAVES = frozenset({ir.Const, ir.Name})
_GIVING = frozenset(
    {ir.Call, ir.Assign, ir.AnnAssign, ir.AugAssign, ir.Dict, ir.FunctionDef, ir.ClassDef}
    | {ir.If, ir.While, ir.For, ir.IfExp, ir.Bool, ir.Comprehension}
)
"""The nodes that give values or ask for them; most others are names."""


class _Collector:
    def __init__(self, scopes: ScopeTable) -> None:
        self.scopes = scopes
        self.values: dict[str, set[str]] = {}
        self.calls: dict[str, Calls] = {}
        self.parameters: dict[str, tuple[Parameter, ...]] = {}
        self.bases: dict[str, tuple[str, ...]] = {}
        self.tested: set[str] = set()
        self.handed: set[str] = set()
        self.own: set[str] = set()
        self.inner: set[str] = set()
        self.kept: set[str] = set()
        self.assigned: dict[str, dict[str, Codes]] = {}
        self.parsed: set[str] = set()
        self.settings: set[str] = set()
        self.foreign: set[str] = set()
        self.replaced: set[str] = set()

    def collect(self, statement: ir.Stmt) -> Given:
        waiting: list[tuple[ir.Node, Scope]] = [(statement, self.scopes.module)]
        while waiting:
            node, scope = waiting.pop()
            if type(node) in _GIVING:
                self._node(node, scope)
            if isinstance(node, ir.FunctionDef | ir.ClassDef):
                scope = self.scopes.of(node)
            children = list(ir.children(node))
            waiting.extend([(child, scope) for child in children if type(child) not in _LEAVES])
            self.kept.update(kept_in(node, children, self.scopes.module))
        return Given(
            {name: frozenset(codes) for name, codes in self.values.items()},
            self.calls,
            self.parameters,
            self.bases,
            frozenset(self.tested),
            frozenset(self.handed),
            frozenset(self.own),
            frozenset(self.inner),
            frozenset(self.kept),
            self.assigned,
            frozenset(self.parsed),
            frozenset(self.settings),
            frozenset(self.foreign),
            frozenset(self.replaced),
        )

    def _node(self, node: ir.Node, scope: Scope) -> None:
        if lowers_keys(node):
            self._add(LOWERED, (ON,))
        match node:
            case ir.Call() if path_of(node.func) != "super":  # `super(Net, self)` calls no `Net`
                self._call(node, scope)
            case ir.Assign(targets=targets, value=value):
                for target in targets:
                    self._assigned(target, value, scope)
                    for key, codes in settings_set(target, value, scope):
                        self._add(key, codes)
            case ir.AnnAssign(target=target, value=ir.Expr() as value):
                self._set(target, codes_of_field(node, value, self.scopes.text, scope), scope)
            case ir.AugAssign(target=target):
                self._set(target, frozenset({UNKNOWN}), scope)
            case ir.Dict():
                for key, codes in entries_of(node, scope):
                    self._add(key, as_data(codes))
                    self.kept.add(key)
            case ir.FunctionDef():
                self._function(node, scope)
            case ir.ClassDef(name=name, args=args):
                self._define(name, scope)
                self.bases[name] = tuple(named_in(arg.value, scope) for arg in args)
            case ir.If(test=test) | ir.While(test=test) | ir.IfExp(test=test):
                self._ask(test, scope)
            case ir.Bool(values=values):
                for value in values:
                    self._ask(value, scope)
            case ir.For() if (count := count_of(node)) is not None:
                self._ask(count, scope)

    def _ask(self, test: ir.Expr, scope: Scope) -> None:
        self.tested.update(keys_asked(test, scope))
        for key, of_settings in entries_asked(test, scope):
            (self.settings if of_settings else self.foreign).add(key)

    # ------------------------------------------------------------------ where values are given

    def _add(self, key: str, codes: Iterable[str]) -> None:
        self.values.setdefault(key, set()).update(code for code in codes if code != key)

    def _assigned(self, target: ir.Expr, value: ir.Expr, scope: Scope) -> None:
        if isinstance(target, ir.Sequence):
            values = value.elements if isinstance(value, ir.Sequence) else ()
            for i, element in enumerate(target.elements):
                known = len(values) == len(target.elements)
                self._set(element, codes_of(values[i], scope) if known else ANY, scope)
        else:
            self._set(target, codes_of(value, scope), scope)

    def _set(self, target: ir.Expr, codes: Codes, scope: Scope) -> None:
        key, codes = kept_key(target, scope), codes_set(target, codes, scope)
        if key and scope.kind == "function" and not scope.name.endswith("__init__"):
            assigned = self.assigned.setdefault(scope.name, {})
            assigned[key] = assigned.get(key, _NONE) | (codes - {key})
        elif key:
            self._add(key, codes)
        if key.startswith(GLOBAL) and UNKNOWN not in codes and all(map(is_constant, codes)):
            self._add(ENTRY + name_of(key), codes)  # of settings that are a module

    def _function(self, node: ir.FunctionDef, scope: Scope) -> None:
        method = scope.kind == "class"
        static = any(path_of(decorator) == "staticmethod" for decorator in node.decorators)
        params = [p for p in node.params if p.kind not in ("*", "**")][method and not static :]
        key = function_name(self.scopes.of(node))
        found = (
            Parameter(p.name, -1 if p.kind == "keyword-only" else i, _default(p, scope))
            for i, p in enumerate(params)
        )
        self.parameters[key] = (*self.parameters.get(key, ()), *found)
        self._define(key, scope.parent if node.name == "__init__" and method else scope)
        if not all(is_plain(decorator) for decorator in node.decorators):
            self.kept.add(key)
        self._verb(node.name)

    def _define(self, name: str, scope: Scope | None) -> None:
        (self.own if scope is self.scopes.module else self.inner).add(name)

    def _verb(self, name: str) -> None:
        """`enable_x()` turns `x` on."""
        if found := _SETS.search(name):
            self._add(ENTRY + (found[1] or found[2]), ANY)

    def _call(self, node: ir.Call, scope: Scope) -> None:
        path = path_of(node.func)
        name = path.rpartition(".")[2]
        if name in _DEFINES or name.startswith("DEFINE_"):
            self._defined(node, name, scope)
            return
        if name == "setattr" and len(node.args) == 3:
            key = node.args[1].value
            if isinstance(key, ir.Const) and isinstance(key.value, str):
                self._add(ATTRIBUTE + key.value, codes_of(node.args[2].value, scope))
        if option_of(node):
            left = otherwise(node, scope) - ANY
            self._add(entry_key(node), (FALLBACK + c if is_constant(c) else c for c in left))
        self.tested.update(keys_asked_by_call(node, name, scope))
        self._verb(name)
        self._called(callee_of(node, name, scope), node.args, scope)
        handed = [path_of(arg.value).rpartition(".")[2] for arg in node.args]
        if handed and handed[0]:
            self._called(HANDED + handed[0], node.args[1:], scope)  # partial(f, ...), checkpoint(f, ...)
        if name == "partial":
            self.kept.update(handed[:1])
        if name not in _CALLS_ONCE and not path.startswith(_LOOKS_AT):
            self.handed.update(one for one in handed if not _is_own(one, scope))

    def _called(self, name: str, args: tuple[ir.Arg, ...], scope: Scope) -> None:
        positional: list[Codes] = []
        passed = -1
        for arg in args:
            if arg.star == "*" and not name.startswith(INSTANCE):  # an object passes on what it is given
                starred = starred_key(arg.value, scope)
                passed = len(positional) if starred else -1
                positional += [frozenset({starred}) if starred else ANY] * MOST_STARRED
            elif arg.keyword is None and not arg.star:
                asked = asks_availability(arg.value)  # no finding says so here, as it does of a keyword
                positional.append(ANY if asked else codes_of(arg.value, scope))
        named = (arg for arg in args if arg.keyword or arg.star == "**")
        keywords = {a.keyword or STARRED: codes_of(a.value, scope) if a.keyword else ANY for a in named}
        count, extra = (passed, {PASSED_ON}) if passed >= 0 else (len(positional), set[str]())
        now = Calls(tuple(positional), keywords, frozenset({(count, frozenset({*keywords, *extra}))}))
        self.calls[name] = join_calls(self.calls[name], now) if name in self.calls else now

    def _defined(self, node: ir.Call, name: str, scope: Scope) -> None:
        option = destination(node)
        if is_replaced(option, scope):
            self.replaced.add(option)
        elif option:
            self.parsed.add(option)
            self._add(ENTRY + option, codes_defined(node, name, scope))


def _is_own(name: str, scope: Scope) -> bool:
    """Return whether a function calls something of its own by a name; who hands a function to it names it."""
    bound = scope.lookup(name)
    return bool(bound) and all(b.kind in ("param", "value", "opaque") for b in bound)


def _default(param: ir.Param, scope: Scope) -> str:
    if param.default is None:
        return ""
    member = member_text(param.default, scope)
    known = isinstance(param.default, ir.Const) or member is not None
    return next(iter(codes_of(param.default, scope))) if known else UNKNOWN
