"""Collect the values that a module gives to options: arguments, attributes, defaults and entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.option_codes import (
    ANY,
    OFF,
    ON,
    UNKNOWN,
    Codes,
    asked_by,
    code_of,
    codes_of,
    option_of,
    otherwise,
)
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of

INSTANCE = "()"
"""The name of calls of an object: those that run a `forward` or a `__call__`. Before the name of a method or
variable: calls of it, which may be an object."""
SUPER = "super()"
"""The name of calls of the constructor above."""

_CALLED = {"forward": INSTANCE, "__call__": INSTANCE}
_SETS = re.compile(r"^(?:enable|set|use|activate|turn_on|supports)_(\w+)$|^(\w+)_(?:enable|enabled|on)$")
_FLAGS = {"store_true": OFF, "store_false": ON}
_DEFINES = frozenset({"add_argument", "option", "Option", "add_option"})
_MOST_STARRED = 20  # parameters that `*args` may fill


class Parameter(NamedTuple):
    """A parameter of a function: where a position stands for it, -1 for none, and the code of its default, ""
    if it has none."""

    name: str
    position: int
    default: str


class Calls(NamedTuple):
    """All calls of a name: the codes by position, how many positions each call fills, and the keywords that
    each call gives."""

    positional: tuple[Codes, ...]
    least: int
    keywords: Codes


class Given(NamedTuple):
    """The values that a module gives, by option; its calls and parameters, by function; the classes that it
    derives others from; and the options that its tests ask for."""

    values: Mapping[str, Codes]
    calls: Mapping[str, Calls]
    parameters: Mapping[str, tuple[Parameter, ...]]
    bases: Codes
    tested: Codes


NOTHING_GIVEN = Given({}, {}, {}, frozenset(), frozenset())


def given_by(module: ir.Module, scopes: ScopeTable) -> Given:
    """Return what a module gives."""
    return _Collector(scopes).collect(module)


_LEAVES = frozenset({ir.Const, ir.Name})
_GIVING = frozenset(
    {ir.Call, ir.Assign, ir.AnnAssign, ir.AugAssign, ir.Dict, ir.FunctionDef, ir.ClassDef}
    | {ir.If, ir.While, ir.IfExp, ir.Bool}
)
"""The nodes that give values or ask for them; most others are names."""


class _Collector:
    def __init__(self, scopes: ScopeTable) -> None:
        self.scopes = scopes
        self.values: dict[str, set[str]] = {}
        self.calls: dict[str, Calls] = {}
        self.parameters: dict[str, tuple[Parameter, ...]] = {}
        self.bases: set[str] = set()
        self.tested: set[str] = set()

    def collect(self, module: ir.Module) -> Given:
        waiting: list[tuple[ir.Node, Scope]] = [(module, self.scopes.module)]
        while waiting:
            node, scope = waiting.pop()
            if type(node) in _GIVING:
                self._node(node, scope)
            if isinstance(node, ir.FunctionDef | ir.ClassDef):
                scope = self.scopes.of(node)
            waiting.extend([(child, scope) for child in ir.children(node) if type(child) not in _LEAVES])
        return Given(
            {name: frozenset(codes) for name, codes in self.values.items()},
            self.calls,
            self.parameters,
            frozenset(self.bases),
            frozenset(self.tested),
        )

    def _node(self, node: ir.Node, scope: Scope) -> None:
        match node:
            case ir.Call():
                self._call(node, scope)
            case ir.Assign(targets=targets, value=value):
                for target in targets:
                    self._assigned(target, value, scope)
            case ir.AnnAssign(target=target, value=ir.Expr() as value):
                self._assigned(target, value, scope)
            case ir.AugAssign(target=target):
                self._set(target, frozenset({UNKNOWN}), scope)
            case ir.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ir.Const) and isinstance(key.value, str):
                        self._add(key.value, codes_of(value, scope))
            case ir.FunctionDef():
                self._function(node, scope)
            case ir.ClassDef(args=args):
                self.bases.update(path_of(arg.value).rpartition(".")[2] for arg in args)
            case ir.If(test=test) | ir.While(test=test) | ir.IfExp(test=test):
                self.tested.update(filter(None, map(option_of, asked_by(test))))
            case ir.Bool(values=values):
                self.tested.update(filter(None, (option_of(one) for v in values for one in asked_by(v))))

    # ------------------------------------------------------------------ where values are given

    def _add(self, option: str, codes: Iterable[str]) -> None:
        self.values.setdefault(option, set()).update(code for code in codes if code != option)

    def _assigned(self, target: ir.Expr, value: ir.Expr, scope: Scope) -> None:
        if isinstance(target, ir.Sequence):
            values = value.elements if isinstance(value, ir.Sequence) else ()
            for i, element in enumerate(target.elements):
                known = len(values) == len(target.elements)
                self._set(element, codes_of(values[i], scope) if known else ANY, scope)
        else:
            self._set(target, codes_of(value, scope), scope)

    def _set(self, target: ir.Expr, codes: Codes, scope: Scope) -> None:
        """A local name is no option; one that is the module's or a class's is."""
        local = isinstance(target, ir.Name) and scope.home(target.id).kind == "function"
        option = option_of(target) if not local and not isinstance(target, ir.Call) else ""
        if option:
            self._add(option, codes)

    def _function(self, node: ir.FunctionDef, scope: Scope) -> None:
        method = scope.kind == "class"
        static = any(path_of(decorator) == "staticmethod" for decorator in node.decorators)
        params = [p for p in node.params if p.kind not in ("*", "**")][method and not static :]
        name = scope.name.rpartition(".")[2] if node.name == "__init__" and method else node.name
        found = (
            Parameter(p.name, -1 if p.kind == "keyword-only" else i, _default(p))
            for i, p in enumerate(params)
        )
        key = _CALLED.get(name, name)
        self.parameters[key] = (*self.parameters.get(key, ()), *found)
        self._verb(node.name)

    def _verb(self, name: str) -> None:
        """`enable_x()` turns `x` on."""
        if found := _SETS.search(name):
            self._add(found[1] or found[2], ANY)

    def _call(self, node: ir.Call, scope: Scope) -> None:
        name = path_of(node.func).rpartition(".")[2]
        if name in _DEFINES or name.startswith("DEFINE_"):
            self._defined(node, name, scope)
            return
        for arg in node.args:
            if arg.keyword is not None:
                self._add(arg.keyword, codes_of(arg.value, scope))
        if name == "setattr" and len(node.args) == 3:
            key = node.args[1].value
            if isinstance(key, ir.Const) and isinstance(key.value, str):
                self._add(key.value, codes_of(node.args[2].value, scope))
        if option := option_of(node):
            self._add(option, otherwise(node, scope) - ANY)
        self._verb(name)
        self._called(_callee(node, name, scope), node.args, scope)
        if node.args and (handed := path_of(node.args[0].value).rpartition(".")[2]):
            self._called(handed, node.args[1:], scope)  # partial(f, ...), checkpoint(f, ...)

    def _called(self, name: str, args: tuple[ir.Arg, ...], scope: Scope) -> None:
        if not name:
            return
        positional: list[Codes] = []
        for arg in args:
            if arg.star == "*" and not name.startswith(INSTANCE):  # an object passes on what it is given
                positional += [ANY] * _MOST_STARRED
            elif arg.keyword is None and not arg.star:
                positional.append(codes_of(arg.value, scope))
        keywords = frozenset(arg.keyword for arg in args if arg.keyword is not None)
        now = Calls(tuple(positional), len(positional), keywords)
        known = self.calls.get(name)
        self.calls[name] = join_calls(known, now) if known else now

    def _defined(self, node: ir.Call, name: str, scope: Scope) -> None:
        """`parser.add_argument("--x", action="store_true")`, `DEFINE_boolean("x", False, ...)`"""
        texts = [a.value.value for a in node.args if a.keyword is None and isinstance(a.value, ir.Const)]
        names = [text for text in texts if isinstance(text, str)]
        if not names:
            return
        given = {arg.keyword: arg.value for arg in node.args if arg.keyword}
        if name.startswith("DEFINE_"):
            default = node.args[1].value if len(node.args) > 1 else given.get("default")
            self._add(names[0], codes_of(default, scope) if default is not None else ANY)
            return
        action, default = given.get("action"), given.get("default")
        long = next((text for text in names if text.startswith("--")), names[0])
        if isinstance(dest := given.get("dest"), ir.Const):
            long = str(dest.value)
        codes = ANY if default is None else codes_of(default, scope)
        if isinstance(action, ir.Const) and default is None:
            codes = frozenset({_FLAGS.get(str(action.value), UNKNOWN)})
        self._add(long.partition("/")[0].lstrip("-").replace("-", "_"), codes)


def join_calls(one: Calls, other: Calls) -> Calls:
    """Return what two groups of calls of a name have in common."""
    longer, shorter = sorted((one.positional, other.positional), key=len, reverse=True)
    positional = (*(a | b for a, b in zip(longer, shorter, strict=False)), *longer[len(shorter) :])
    return Calls(positional, min(one.least, other.least), one.keywords & other.keywords)


def _callee(node: ir.Call, name: str, scope: Scope) -> str:
    func = node.func
    above = func.value if isinstance(func, ir.Attribute) else None
    if isinstance(func, ir.Attribute) and isinstance(above, ir.Call) and path_of(above.func) == "super":
        return SUPER if func.attr == "__init__" else func.attr
    if name == "__init__":
        return path_of(func).rpartition(".")[0].rpartition(".")[2]
    if not name:
        return func.attr if isinstance(func, ir.Attribute) else INSTANCE
    first = path_of(func).partition(".")[0]
    of_object = first == "self" or any(b.kind in ("param", "value", "opaque") for b in scope.lookup(first))
    return INSTANCE + name if of_object and name not in _CALLED else _CALLED.get(name, name)


def _default(param: ir.Param) -> str:
    if param.default is None:
        return ""
    return code_of(param.default.value) if isinstance(param.default, ir.Const) else UNKNOWN
