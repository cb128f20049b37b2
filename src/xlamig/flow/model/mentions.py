"""The functions and classes that a module defines, and the names that it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.conditional_parts import Parts, branches_of, iterations_of, returning
from xlamig.flow.model.conditions import Conditions
from xlamig.flow.model.decorators import is_plain
from xlamig.flow.model.lookups import looked_up, module_of, parts_of
from xlamig.flow.model.pieces import Pieces
from xlamig.flow.model.references import ATTRIBUTE, IMPORTED, OWN, TEXT, references_of
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.unmade import cannot_be_made
from xlamig.knowledge import values as table

_WORD = re.compile(r"[A-Za-z_]\w+")
_COMMENT = re.compile(r"#[^\n]*\(")
_LONGEST = 200  # characters of a text that may name something
DOCSTRING = ".__doc__"
"""Ends the name of the scope, as it were, of a text that nothing uses."""
_LEAVES = frozenset({ir.Name, ir.Const})
_NAMING = frozenset({ir.Name, ir.Attribute, ir.Const, ir.FString})
_CODE = re.compile(r"\w[(\[]|^\S*$")
"""Matches a text that may name something: code, or one word. Others are for people."""
_LOOKING_UP = frozenset({ir.Call, ir.Subscript})


class Defined(NamedTuple):
    """A function, method or class; `scope` is its qualified name, `owner` the class of a method. One that is
    `registered` is looked up by its name."""

    scope: str
    name: str
    owner: str
    registered: bool = False


class Block(NamedTuple):
    """The references that a scope makes where conditions hold, or do not; an import is none."""

    scope: str
    conditions: Conditions
    names: frozenset[str]


class Mentions(NamedTuple):
    """The names that a module defines, those that blocks mention, those in texts that something is compared
    with, and those that it imports or exports, which alone does not mention a name. `bases` are the last
    names of each class's bases. The module looks up names that begin or end with one of `parts`, and any
    names of the modules `searched`, HERE for its own; a name that it looks up in other objects stands in some
    text. `commented` are the words of calls in comments, which wait to be used; `unmade` are the classes
    whose constructor always raises: objects can only be of classes derived from them."""

    defined: tuple[Defined, ...] = ()
    compared: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    bases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parts: frozenset[str] = frozenset()
    searched: frozenset[str] = frozenset()
    blocks: tuple[Block, ...] = ()
    commented: frozenset[str] = frozenset()
    unmade: tuple[Defined, ...] = ()


class _Around(NamedTuple):
    """The surroundings of a node: the scopes by name, the class whose body it is in, and the conditions."""

    names: frozenset[str]
    owner: str
    scope: Scope
    conditions: Conditions

    def parts(self, parts: Parts) -> Iterator[tuple[ir.Node, _Around]]:
        """Yield parts of a statement here with their surroundings."""
        yield from ((c, self._replace(conditions=(*self.conditions, *m)) if m else self) for c, m in parts)


def mentions_of(module: ir.Module, scopes: ScopeTable, pieces: Pieces) -> Mentions:
    """Return what a module defines and mentions; a function that only calls itself does not mention it."""
    found = [pieces.of(_mentioned, statement, scopes) for statement in reversed(module.body)]
    blocks: dict[tuple[str, Conditions], set[str]] = {}
    for block in (block for part in found for block in part.blocks):
        blocks.setdefault((block.scope, block.conditions), set()).update(block.names)
    if offered := set(_offered_twice(scopes)):
        blocks.setdefault(("", ()), set()).update(offered)
    return Mentions(
        tuple(one for part in found for one in part.defined),
        frozenset().union(*(part.compared for part in found)),
        frozenset().union(*(part.imported for part in found)),
        tuple(one for part in found for one in part.bases),
        frozenset().union(*(part.parts for part in found)),
        frozenset().union(*(part.searched for part in found)),
        tuple(Block(*where, frozenset(names)) for where, names in blocks.items()),
        frozenset(word for comment in _COMMENT.findall(scopes.text) for word in _WORD.findall(comment)),
        tuple(one for part in found for one in part.unmade),
    )


def _offered_twice(scopes: ScopeTable) -> Iterator[str]:
    """Yield what imports lead to that bind one name: who takes it from the module may get any of them."""
    for name, bindings in scopes.module.bindings.items():
        imports = [binding for binding in bindings if binding.kind == "import"]
        if len(imports) > 1 and "." not in name:
            yield from (IMPORTED + binding.dotted for binding in imports)


def _mentioned(statement: ir.Stmt, scopes: ScopeTable) -> Mentions:
    compared: set[str] = set()
    imported: set[str] = set()
    blocks: dict[tuple[str, Conditions], set[str]] = {}
    defined: list[Defined] = []
    bases: list[tuple[str, tuple[str, ...]]] = []
    parts: set[str] = set()
    searched: set[str] = set()
    exports = _is_export_list(statement)
    waiting: list[tuple[ir.Node, _Around]] = [(statement, _Around(frozenset(), "", scopes.module, ()))]
    followed: set[ir.Node] = set()  # the tests that lead back from a function which then does something else
    at: _Around | None = None
    seen: set[str] = set()  # paths in these surroundings, which refer to the same each time
    while waiting:
        node, around = waiting.pop()
        if around is not at:
            at, seen = around, set()
        kind = type(node)
        path = path_of(node) if isinstance(node, ir.Name | ir.Attribute) else ""
        if path in seen:
            continue
        if isinstance(node, ir.Alias):
            imported.update(node.name.split("."))
            continue
        if kind in _NAMING and (mentioned := set(_mentioned_by(node, around))):
            if exports:
                imported |= {one.removeprefix(TEXT) for one in mentioned}
            else:
                blocks.setdefault((around.scope.name, around.conditions), set()).update(mentioned)
        if path:
            seen.add(path)
            continue
        if isinstance(node, ir.FunctionDef | ir.ClassDef):
            scope = scopes.of(node)
            held = any(map(_registers_own_name, node.decorators))  # by what may call any method
            if _is_plain(node, around.owner) and (around.owner or scope.parent is scopes.module):
                defined.append(Defined(scope.name, node.name, around.owner, held))
            if isinstance(node, ir.ClassDef):
                bases.append((node.name, tuple(path_of(a.value).rpartition(".")[2] for a in node.args)))
            owner = node.name if isinstance(node, ir.ClassDef) and _is_plain(node) and not held else ""
            waiting += [(child, around) for child in node.decorators]
            if isinstance(node, ir.ClassDef):  # a class uses its bases
                waiting += [(child, around._replace(scope=scope)) for child in node.args]
            else:
                waiting += [(child, around) for child in node.params]
            inner = _Around(around.names | {node.name}, owner, scope, around.conditions)
            waiting += [(child, inner) for child in node.body]
            followed.update(returning(node.body))
            continue
        if isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Const):
            names = set(_mentioned_by(node.value, around))
            blocks.setdefault((around.scope.name + DOCSTRING, around.conditions), set()).update(names)
            continue
        if isinstance(node, ir.If | ir.IfExp):
            waiting += around.parts(branches_of(node, around.scope, scopes.text, node in followed))
            continue
        if isinstance(node, ir.For):
            waiting += around.parts(iterations_of(node, around.scope, scopes.text))
            continue
        if kind in _LOOKING_UP and (found_by := looked_up(node)):
            subject, name = found_by
            if found := parts_of(name):
                parts.update(found)
            elif where := module_of(subject, scopes):
                searched.add(where)
        if isinstance(node, ir.Compare):
            texts = (child for child in ir.children(node) if isinstance(child, ir.Const))
            compared.update(name for text in texts for name in _named(text))
            waiting += [(child, around) for child in ir.children(node) if not isinstance(child, ir.Const)]
            continue  # a text that something is compared with uses nothing
        if kind not in _LEAVES:
            waiting += [(child, around) for child in _using(node)]
    every = (Block(scope, conditions, frozenset(names)) for (scope, conditions), names in blocks.items())
    return Mentions(
        tuple(defined),
        frozenset(compared),
        frozenset(imported),
        tuple(bases),
        frozenset(parts),
        frozenset(searched),
        tuple(every),
        unmade=tuple(_unmade(statement)),
    )


def _unmade(statement: ir.Stmt) -> Iterator[Defined]:
    if isinstance(statement, ir.ClassDef) and cannot_be_made(statement):
        yield Defined(statement.name, statement.name, "")


def _using(node: ir.Node) -> Iterable[ir.Node]:
    """Return the parts of a node that may run what they mention: who asks whether an object is of a class
    makes none."""
    match node:
        case ir.Call(func=ir.Name(id="isinstance"), args=(subject, ir.Arg(value=classes), *_)):
            parts = classes.elements if isinstance(classes, ir.Sequence) else (classes,)
            return (subject, *(part for part in parts if not path_of(part)))
    return ir.children(node)


def _is_export_list(statement: ir.Stmt) -> bool:
    """Return whether a statement says what `from module import *` imports: `__all__ = [...]`."""
    match statement:
        case ir.Assign(targets=(target,)) | ir.AugAssign(target=target):
            return path_of(target) == "__all__"
    return False


def _mentioned_by(node: ir.Node, around: _Around) -> Iterator[str]:
    """Yield what a node refers to, but not the functions and classes that it is in."""
    if not isinstance(node, ir.Name | ir.Attribute):
        yield from (name for name in _named(node) if name.removeprefix(TEXT) not in around.names)
        return
    outermost = OWN + around.scope.name.partition(".")[0]
    for one in references_of(node, around.scope):
        if one != outermost and one.removeprefix(ATTRIBUTE) not in around.names:
            yield one


def _named(node: ir.Node) -> Iterable[str]:
    match node:
        case ir.Const(value=str(text)) if len(text) <= _LONGEST and _CODE.search(text):
            words = _WORD.findall(text)
            return [TEXT + text] if words == [text] else words
        case ir.FString(parts=parts):
            return [word for part in parts if isinstance(part, str) for word in _WORD.findall(part)]
    return ()


def _is_plain(node: ir.FunctionDef | ir.ClassDef, owner: str = "") -> bool:
    """Return whether only a mention of its name runs a function, class or method of `owner`: no decorator
    registers it under another name, and torch does not call it."""
    others = (decorator for decorator in node.decorators if not _registers_own_name(decorator))
    special = node.name.startswith("__") or (owner and node.name in table.names("modules", "called"))
    return not (isinstance(node, ir.FunctionDef) and special) and all(map(is_plain, others))


def _registers_own_name(decorator: ir.Node) -> bool:
    """Return whether a decorator gives a registry what it decorates under its own name: `NETS.register()`."""
    func = decorator.func if isinstance(decorator, ir.Call) and not decorator.args else None
    return isinstance(func, ir.Attribute) and func.attr in table.names("modules", "registries")
