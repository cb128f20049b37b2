"""The functions and classes that a module defines, and the names that it mentions: what nothing mentions,
nothing runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.scopes import ScopeTable, path_of
from xlamig.knowledge import values as table

HERE = "."
_WORD = re.compile(r"[A-Za-z_]\w+")
_LONGEST = 200  # characters of a text that may name something
_FEWEST = 3  # characters of a part of a name
_PLAIN_DECORATORS = frozenset(
    {
        "staticmethod",
        "classmethod",
        "property",
        "no_grad",
        "inference_mode",
        "autocast",
        "contextmanager",
        "cached_property",
    }
)


class Defined(NamedTuple):
    """A function, method or class; `scope` is its qualified name, `owner` the class of a method."""

    scope: str
    name: str
    owner: str


class Mentions(NamedTuple):
    """The names that a module defines and mentions. `bases` are the last names of each class's bases. The
    module looks up names that begin or end with one of `parts`, and any names of the modules `searched`, HERE
    for its own; a name that it looks up in other objects stands in some text."""

    defined: tuple[Defined, ...] = ()
    named: frozenset[str] = frozenset()
    bases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parts: frozenset[str] = frozenset()
    searched: frozenset[str] = frozenset()


def mentions_of(module: ir.Module, scopes: ScopeTable) -> Mentions:
    """Return what a module defines and mentions; a function that only calls itself does not mention it."""
    named: set[str] = set()
    defined: list[Defined] = []
    bases: list[tuple[str, tuple[str, ...]]] = []
    parts: set[str] = set()
    searched: set[str] = set()
    waiting: list[tuple[ir.Node, frozenset[str], str]] = [(module, frozenset(), "")]
    while waiting:
        node, around, owner = waiting.pop()
        named.update(name for name in _named(node) if name not in around)
        if isinstance(node, ir.FunctionDef | ir.ClassDef):
            scope = scopes.of(node)
            if _is_plain(node) and (owner or scope.parent is scopes.module):
                defined.append(Defined(scope.name, node.name, owner))
            if isinstance(node, ir.ClassDef):
                bases.append((node.name, tuple(path_of(a.value).rpartition(".")[2] for a in node.args)))
            outside = (*node.decorators, *(node.args if isinstance(node, ir.ClassDef) else node.params))
            inner = node.name if isinstance(node, ir.ClassDef) and _is_plain(node) else ""
            waiting += [(child, around, owner) for child in outside]
            waiting += [(child, around | {node.name}, inner) for child in node.body]
            continue
        if looked_up := _looked_up(node):
            subject, name = looked_up
            if found := _parts(name):
                parts.update(found)
            elif where := _module_of(subject, scopes):
                searched.add(where)
        waiting += [(child, around, owner) for child in ir.children(node)]
    return Mentions(tuple(defined), frozenset(named), tuple(bases), frozenset(parts), frozenset(searched))


def _named(node: ir.Node) -> Iterable[str]:
    match node:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            return (name,)
        case ir.Const(value=str(text)) if len(text) <= _LONGEST:
            return _WORD.findall(text)
        case ir.Alias(name=name):
            return name.split(".")
        case ir.FString(parts=parts):
            return [word for part in parts if isinstance(part, str) for word in _WORD.findall(part)]
    return ()


def _looked_up(node: ir.Node) -> tuple[ir.Expr | None, ir.Expr] | None:
    """Return where and by which expression a name is looked up: `getattr(models, name)`,
    `models.__dict__[name]` and, in the module itself, `globals()[name]`."""
    match node:
        case ir.Call(func=ir.Name(id="getattr"), args=(subject, name, *_)):
            return subject.value, name.value
        case ir.Subscript(value=ir.Attribute(value=subject, attr="__dict__"), index=(name,)):
            return subject, name
        case ir.Subscript(value=ir.Call(func=ir.Name(id="globals")), index=(name,)):
            return None, name
        case ir.Call(func=func, args=args) if path_of(func) in ("fire.Fire", "Fire"):
            return (None, node) if isinstance(node, ir.Call) and not args else None
    return None


def _module_of(subject: ir.Expr | None, scopes: ScopeTable) -> str:
    """Return the module that names are looked up in, "" for another object."""
    if subject is None:
        return HERE
    first, _, rest = path_of(subject).partition(".")
    bound = next((b.dotted for b in scopes.module.bindings.get(first, ()) if b.kind == "import"), "")
    return ".".join(filter(None, (bound, rest))) if bound else ""


def _parts(node: ir.Expr) -> list[str]:
    """Return the constant ends of a name that is put together, and a name that is written out."""
    match node:
        case ir.FString(parts=texts):
            found = [text for text in texts if isinstance(text, str)]
        case ir.Binary(op="+", left=left, right=right):
            found = [str(side.value) for side in (left, right) if isinstance(side, ir.Const)]
        case ir.Const(value=str(text)):
            found = [text]
        case _:
            found = []
    return [text for text in found if len(text) >= _FEWEST]


def _is_plain(node: ir.FunctionDef | ir.ClassDef) -> bool:
    """Return whether only a mention of its name runs a function or class: no decorator registers it."""
    called = (d.func if isinstance(d, ir.Call) else d for d in node.decorators)
    names = {path_of(decorator).rpartition(".")[2] for decorator in called}
    if isinstance(node, ir.ClassDef):
        return names <= {"dataclass"}
    special = node.name.startswith("__") or node.name in table.names("modules", "called")
    return not special and names <= _PLAIN_DECORATORS


def unmentioned(
    modules: Iterable[tuple[str, Mentions]], is_own: Callable[[str], bool]
) -> Iterator[tuple[str, Defined]]:
    """Yield the functions and classes that no module mentions, each with its module's key; `is_own` tells the
    project's packages by their names."""
    every = list(modules)
    searched = frozenset[str]().union(*(mentions.searched for _, mentions in every)) - {HERE}
    methods_only = any(is_own(where.partition(".")[0]) for where in searched)
    named = frozenset[str]().union(*(mentions.named for _, mentions in every))
    ends = tuple(frozenset[str]().union(*(mentions.parts for _, mentions in every)))
    bases: dict[str, set[str]] = {}
    for _, mentions in every:
        for name, above in mentions.bases:
            bases.setdefault(name, set()).update(above)
    for key, mentions in every:
        for one in mentions.defined:
            looked_up = one.name.startswith(ends) or one.name.endswith(ends)
            searchable = not one.owner and (methods_only or HERE in mentions.searched)
            if one.name in named or looked_up or searchable:
                continue
            if _are_own(one.owner or one.name, bases, set()):
                yield key, one


def _are_own(owner: str, bases: dict[str, set[str]], seen: set[str]) -> bool:
    """Return whether the methods of a class are called by the project alone: it derives from its classes and
    from such as `torch.nn.Module`."""
    if not owner or owner in seen:
        return True
    seen.add(owner)
    known = table.names("modules", "above")
    return all(
        base in known or (base in bases and _are_own(base, bases, seen)) for base in bases.get(owner, ())
    )
