"""Tables from which a name that is computed chooses: dictionaries of functions, registries, modules."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.conditions import Condition
from xlamig.flow.model.decorators import is_plain
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.per_file import per_file

HERE = "here:"
"""Begins the name of a table that is written out where something is looked up."""

REGISTERED = "@"
"""Begins the name of a table that a decorator fills, followed by the package that it is imported from."""

Table = tuple[str, list[tuple[str, ir.Expr]]]
"""The name of a table that is written out, with its keys and values."""

_LOOKS_UP = frozenset({"get", "pop"})
_LEAVES = frozenset({"keys", "setdefault", "update", "add", "register", *_LOOKS_UP})
_COUNTS = frozenset({"list", "sorted", "set", "tuple", "len", "str", "isinstance", "join", "repr"})
_UNSAID = frozenset({"help", "dest", "metavar", "action", "encoding", "description", "choices"})
"""The keywords whose texts choose nothing."""
_FEWEST = 2  # entries of a table


class Uses(NamedTuple):
    """How a module uses dictionaries, by name: it looks up computed names in some, and hands on others, or
    goes over what they hold."""

    looked_up: set[str]
    spread: set[str]
    given: set[str]
    """The texts that the module gives as values: defaults, arguments by keyword, entries."""
    neutral: set[int]
    """The nodes, by identity, that are found to hand on nothing."""


def chosen(table: str, key: str, text: str = "") -> Condition:
    """Return the condition that a name chooses an entry of a table."""
    return Condition(
        "chosen", op=table, value=key, text=short(text or f'{table.rpartition(":")[2]}["{key}"]')
    )


def entries_of(node: ir.Node, scope: Scope) -> Table | None:
    """Return the table that a statement or look-up writes out, by name, with the keys and values."""
    match node:
        case ir.Assign(targets=(ir.Name() | ir.Attribute() as target,), value=value):
            name = table_name(target, scope, target)
        case ir.AnnAssign(target=ir.Name() | ir.Attribute() as target, value=ir.Expr() as value):
            name = table_name(target, scope, target)
        case (
            ir.Subscript(value=value, index=(ir.Expr() as key,))
            | ir.Call(func=ir.Attribute(value=value, attr="get"), args=(ir.Arg(value=key), *_))
        ) if not isinstance(key, ir.Const):
            name = HERE
        case _:
            return None
    entries = list(_entries(value)) if name else []
    if len(entries) < _FEWEST or not all(key for key, _ in entries):
        return None
    if all(isinstance(item, ir.Const) for _, item in entries):
        return None
    return (f"{HERE}{','.join(key for key, _ in entries)}:" if name == HERE else name), entries


def _entries(value: ir.Expr) -> Iterator[tuple[str, ir.Expr]]:
    """Yield the keys and values of a dictionary that is written out, "" for a key that is not known."""
    match value:
        case ir.Dict(keys=keys, values=values):
            for key, item in zip(keys, values, strict=True):
                yield key.value if isinstance(key, ir.Const) and isinstance(key.value, str) else "", item
        case ir.Call(func=ir.Name(id="dict"), args=args):
            yield from ((arg.keyword or "", arg.value) for arg in args)
        case ir.Comprehension(
            kind="dict",
            element=key,
            value=ir.Name(id=name),
            generators=(ir.Generator(target=ir.Name(id=bound), iter=ir.Sequence(elements=elements)),),
        ) if name == bound and any(
            isinstance(part, ir.Attribute) and path_of(part) == f"{name}.__name__" for part in ir.walk(key)
        ):
            yield from ((path_of(one).rpartition(".")[2], one) for one in elements)


def table_name(node: ir.Expr, scope: Scope, target: ir.Expr | None = None) -> str:
    """Return the name by which modules know a dictionary, "" for what is none; `target` is assigned to."""
    path = path_of(node)
    first, _, last = path.rpartition(".")
    if not path:
        return ""
    if first:
        root = path.partition(".")[0]
        return last if root in ("self", "cls") or last.isupper() or _is_imported(root, scope) else ""
    return _name_bound(path, scope, target is not None)


@per_file
@lru_cache(maxsize=256)  # each mention of a name asks again
def _is_imported(name: str, scope: Scope) -> bool:
    return any(binding.kind == "import" for binding in scope.lookup(name))


@per_file
@lru_cache(maxsize=256)
def _name_bound(name: str, scope: Scope, is_target: bool) -> str:
    """Return the name by which modules know what a name holds, "" if that is no dictionary."""
    for binding in scope.lookup(name):
        if binding.kind == "import":
            return binding.dotted.rpartition(".")[2]
        if is_target or (binding.value is not None and any(_entries(binding.value))):
            inside = binding.scope.kind == "function"
            return f"{binding.scope.name}:{name}" if inside else name
    return ""


def note_uses(node: ir.Node, scope: Scope, uses: Uses) -> None:
    """Note how a node uses dictionaries, before its parts are looked at."""
    match node:
        case ir.Assign(targets=targets, value=value):
            uses.neutral.update(map(id, targets))
            _note_given(value, uses)
        case ir.AnnAssign(target=target, value=value):
            uses.neutral.add(id(target))
            _note_given(value, uses)
        case ir.Subscript(value=table, index=index):
            uses.neutral.add(id(table))
            if not any(isinstance(part, ir.Const) for part in index):
                uses.looked_up.add(table_name(table, scope))
        case ir.Call(func=ir.Attribute(value=table, attr=method), args=args) if method in _LEAVES:
            uses.neutral.add(id(table))
            if method in _LOOKS_UP and args and not isinstance(args[0].value, ir.Const):
                uses.looked_up.add(table_name(table, scope))
        case ir.Call(func=func, args=args) if path_of(func).rpartition(".")[2] in _COUNTS:
            uses.neutral.update(id(arg.value) for arg in args)
        case ir.Compare(ops=("in" | "not in",), comparators=(table,)):
            uses.neutral.add(id(table))
        case ir.Arg(keyword="choices", value=table):
            uses.neutral.add(id(table))
        case ir.Arg(keyword=str(keyword), value=value) if keyword not in _UNSAID:
            _note_given(value, uses)
        case ir.Param(default=ir.Expr() as value):
            _note_given(value, uses)
        case ir.Dict(values=values):
            for value in values:
                _note_given(value, uses)
        case ir.Name() | ir.Attribute():
            _note_spread(node, scope, uses)


def _note_spread(node: ir.Expr, scope: Scope, uses: Uses) -> None:
    """Note that something is done with a name, or with a chain of attributes and all its parts."""
    part: ir.Expr | None = node
    while part is not None and id(part) not in uses.neutral:
        uses.spread.add(table_name(part, scope))
        part = part.value if isinstance(part, ir.Attribute) else None


def _note_given(value: ir.Expr | None, uses: Uses) -> None:
    for part in value.elements if isinstance(value, ir.Sequence) else (value,):
        if isinstance(part, ir.Const) and isinstance(part.value, str):
            uses.given.add(part.value)


def options_listed(node: ir.Node) -> list[ir.Const]:
    """Return the texts that an option may have: `choices=["a", "b"]`."""
    match node:
        case ir.Arg(keyword="choices", value=ir.Sequence(elements=elements)):
            return [one for one in elements if isinstance(one, ir.Const)]
    return []


def registration(decorator: ir.Expr, name: str, scope: Scope) -> Condition | None:
    """Return the condition under which a decorator that gives a registry what it decorates, under a key or
    its own `name`, leads to its use; None for one that does not look like that."""
    call = decorator if isinstance(decorator, ir.Call) else None
    path = path_of(call.func if call else decorator)
    if not path:
        return None
    args = call.args if call else ()
    texts = [one.value.value for one in args if isinstance(one.value, ir.Const)]
    keys = [text for text in texts if isinstance(text, str)]
    others = [path_of(one.value) for one in args if not isinstance(one.value, ir.Const)]
    if len(keys) > 1 or (not keys and any(not one.keyword for one in args)) or not all(others):
        return None
    bindings = scope.lookup(path.partition(".")[0])
    if not bindings:
        return None
    imported = next((one.dotted for one in bindings if one.kind == "import"), "")
    shown = path if "." in path else imported or path
    last = ".".join(shown.split(".")[-2 if "." in path else -1 :])
    table = f"{REGISTERED}{imported.partition('.')[0]}:{'.'.join((last, *others))}"
    key = keys[0] if keys else name
    return chosen(table, key, f'{path}("{key}")')


def around_table(node: ir.Node) -> Iterator[ir.Node]:
    """Yield the parts of a statement or look-up beside the table that it writes out."""
    match node:
        case ir.Assign(targets=targets):
            yield from targets
        case ir.AnnAssign(target=target):
            yield target
        case ir.Subscript(index=index):
            yield from index
        case ir.Call(args=args):
            yield from args


def holds(part: ir.Node, node: ir.Node) -> bool:
    """Return whether a node is a part of another."""
    return part is node or any(inner is node for inner in ir.walk(part))


def registrations(node: ir.FunctionDef | ir.ClassDef, scope: Scope) -> list[Condition]:
    """Return the conditions under which the decorators of a function or class lead to its use; none where
    another decorator may."""
    found = [registration(one, node.name, scope) for one in node.decorators if not is_plain(one)]
    return [one for one in found if one is not None] if all(found) and not node.name.startswith("__") else []


def without_keys(decorator: ir.Expr, keys: Collection[object]) -> Iterator[ir.Node]:
    """Yield the parts of a decorator that use something, without the keys of registrations."""
    if not keys or not isinstance(decorator, ir.Call):
        yield decorator
        return
    yield decorator.func
    yield from (
        arg for arg in decorator.args if not isinstance(arg.value, ir.Const) or arg.value.value not in keys
    )
