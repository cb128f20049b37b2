"""The functions and classes that a module defines, and the names that it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.choices import (
    Table,
    Uses,
    around_table,
    chosen,
    entries_of,
    holds,
    note_uses,
    options_listed,
    registrations,
    without_keys,
)
from xlamig.flow.model.conditional_parts import Parts, branches_of, iterations_of, returning
from xlamig.flow.model.conditions import Conditions
from xlamig.flow.model.decorators import is_named_to_run, registers_own_name
from xlamig.flow.model.lookups import Pick, looked_up, module_of, parts_of, pick_of
from xlamig.flow.model.mentioned import Block, Defined, Mentions
from xlamig.flow.model.pieces import Pieces
from xlamig.flow.model.references import ATTRIBUTE, IMPORTED, OWN, TEXT, references_of, stands_for
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.unmade import cannot_be_made

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


class _Around(NamedTuple):
    """The surroundings of a node: the scopes as what is in them refers to them, the class whose body it is
    in, and the conditions."""

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
        frozenset().union(*(part.picks for part in found)),
        frozenset().union(*(part.looked_up for part in found)),
        frozenset().union(*(part.spread for part in found)),
        frozenset().union(*(part.given for part in found)),
    )


def _offered_twice(scopes: ScopeTable) -> Iterator[str]:
    """Yield what imports lead to that bind one name: who takes it from the module may get any of them."""
    for name, bindings in scopes.module.bindings.items():
        imports = [binding for binding in bindings if binding.kind == "import"]
        if len(imports) > 1 and "." not in name:
            yield from (IMPORTED + binding.dotted for binding in imports)


class _Found(NamedTuple):
    """The mentions of a statement, while it is walked."""

    compared: set[str]
    imported: set[str]
    blocks: dict[tuple[str, Conditions], set[str]]
    defined: list[Defined]
    bases: list[tuple[str, tuple[str, ...]]]
    parts: set[str]
    searched: set[str]
    picks: set[Pick]
    uses: Uses

    def mention(self, scope: str, conditions: Conditions, names: Iterable[str]) -> None:
        self.blocks.setdefault((scope, conditions), set()).update(names)


def _mentioned(statement: ir.Stmt, scopes: ScopeTable) -> Mentions:
    found = _Found(set(), set(), {}, [], [], set(), set(), set(), Uses(set(), set(), set(), set()))
    exports = _is_export_list(statement)
    scope = scopes.module
    match statement:
        case ir.Assign(targets=(ir.Name(id=name),), value=value) if stands_for(value):
            found.defined.append(Defined(name, name, ""))
            scope = Scope("expression", name, scope)
    waiting: list[tuple[ir.Node, _Around]] = [(statement, _Around(frozenset(), "", scope, ()))]
    followed: set[ir.Node] = set()  # the tests that lead back from a function which then does something else
    at: _Around | None = None
    seen: set[str] = set()  # paths in these surroundings, which refer to the same each time
    while waiting:
        node, around = waiting.pop()
        if around is not at:
            at, seen = around, set()
        kind = type(node)
        path = path_of(node) if isinstance(node, ir.Name | ir.Attribute) else ""
        note_uses(node, around.scope, found.uses)
        if path in seen:
            continue
        if isinstance(node, ir.Alias):
            found.imported.update(node.name.split("."))
            continue
        if kind in _NAMING and (mentioned := set(_mentioned_by(node, around))):
            if exports:
                found.imported.update(one.removeprefix(TEXT) for one in mentioned)
            else:
                found.mention(around.scope.name, around.conditions, mentioned)
        if path:
            seen.add(path)
            continue
        if isinstance(node, ir.FunctionDef | ir.ClassDef):
            waiting += _definition(node, around, scopes, found)
            followed.update(returning(node.body))
            continue
        if isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Const):
            names = set(_mentioned_by(node.value, around))
            found.mention(around.scope.name + DOCSTRING, around.conditions, names)
            continue
        if isinstance(node, ir.If | ir.IfExp):
            waiting += around.parts(branches_of(node, around.scope, scopes.text, node in followed))
            continue
        if isinstance(node, ir.For):
            waiting += around.parts(iterations_of(node, around.scope, scopes.text))
            continue
        if (table := entries_of(node, around.scope)) is not None:
            waiting += _entries(node, table, around, found)
            continue
        if kind not in _LEAVES:
            waiting += [(child, around) for child in _parts_that_use(node, around.scope, scopes, found)]
    every = (
        Block(scope, conditions, frozenset(names)) for (scope, conditions), names in found.blocks.items()
    )
    return Mentions(
        tuple(found.defined),
        frozenset(found.compared),
        frozenset(found.imported),
        tuple(found.bases),
        frozenset(found.parts),
        frozenset(found.searched),
        tuple(every),
        unmade=tuple(_unmade(statement)),
        picks=frozenset(found.picks),
        looked_up=frozenset(found.uses.looked_up) - {""},
        spread=frozenset(found.uses.spread) - {""},
        given=frozenset(found.uses.given),
    )


def _definition(
    node: ir.FunctionDef | ir.ClassDef, around: _Around, scopes: ScopeTable, found: _Found
) -> Iterator[tuple[ir.Node, _Around]]:
    scope = scopes.of(node)
    held = any(map(registers_own_name, node.decorators))  # by what may call any method
    outermost = not around.owner and scope.parent is scopes.module
    registered = registrations(node, around.scope) if outermost and not held else []
    if (is_named_to_run(node, around.owner) and (around.owner or outermost)) or registered:
        found.defined.append(Defined(scope.name, node.name, around.owner, held))
    for one in registered:
        found.mention("", (*around.conditions, (one, True)), (OWN + node.name,))
        found.compared.add(str(one.value))
    keys = {one.value for one in registered}
    for decorator in node.decorators:
        yield from ((child, around) for child in without_keys(decorator, keys))
    owner = ""
    if isinstance(node, ir.ClassDef):  # a class uses its bases
        found.bases.append((node.name, tuple(path_of(a.value).rpartition(".")[2] for a in node.args)))
        owner = node.name if is_named_to_run(node) and not held else ""
        yield from ((child, around._replace(scope=scope)) for child in node.args)
    else:
        yield from ((child, around) for child in node.params)
    own = {node.name, ATTRIBUTE + node.name} if around.scope.kind == "class" else {node.name}
    inner = _Around(around.names | own, owner, scope, around.conditions)
    yield from ((child, inner) for child in node.body)


def _entries(
    node: ir.Node, table: Table, around: _Around, found: _Found
) -> Iterator[tuple[ir.Node, _Around]]:
    name, entries = table
    for key, value in entries:
        yield value, around._replace(conditions=(*around.conditions, (chosen(name, key), True)))
        if isinstance(value, ir.Const):
            found.mention(around.scope.name, around.conditions, (TEXT + key,))
        found.compared.add(key)
    yield from ((child, around) for child in around_table(node))


def _parts_that_use(node: ir.Node, scope: Scope, scopes: ScopeTable, found: _Found) -> Iterable[ir.Node]:
    """Return the parts of an expression that may use what they mention: a text that something is compared
    with, or that an option may have, uses nothing."""
    if looks := looked_up(node) if type(node) in _LOOKING_UP else None:
        subject, name = looks
        pick = pick_of(subject, name, scope, scopes) if name is not node else None  # not of a command line
        if pick is not None:
            found.picks.add(pick)
            if pick.where and subject is not None:  # not a module that is used as an object
                return [child for child in ir.children(node) if not holds(child, subject)]
        elif ends := parts_of(name):
            found.parts.update(ends)
        elif where := module_of(subject, scopes):
            found.searched.add(where)
    texts = options_listed(node)
    if isinstance(node, ir.Compare):
        texts = [child for child in ir.children(node) if isinstance(child, ir.Const)]
    found.compared.update(name for text in texts for name in _named(text))
    if isinstance(node, ir.Compare):
        return [child for child in _using(node) if not isinstance(child, ir.Const)]
    return () if texts else _using(node)


def _unmade(statement: ir.Stmt) -> Iterator[Defined]:
    if isinstance(statement, ir.ClassDef) and cannot_be_made(statement):
        yield Defined(statement.name, statement.name, "")


def _using(node: ir.Node) -> Iterable[ir.Node]:
    """Return the parts of a node that may run what they mention: who asks whether an object is of a class,
    or looks something up by it, makes none."""
    match node:
        case ir.Dict(keys=keys, values=values):
            return (*(key for key in keys if key is not None and not _is_class(key)), *values)
        case ir.Compare(left=ir.Call(func=ir.Name(id="type"), args=(subject,)), comparators=others):
            return (subject, *(other for other in others if not _is_class(other)))
        case ir.Call(func=ir.Name(id="isinstance"), args=(subject, ir.Arg(value=classes), *_)):
            parts = classes.elements if isinstance(classes, ir.Sequence) else (classes,)
            return (subject, *(part for part in parts if not path_of(part)))
    return ir.children(node)


def _is_class(node: ir.Expr) -> bool:
    """Return whether a name is one of a class, as they are written: `models.DeformConv`."""
    return path_of(node).rpartition(".")[2][:1].isupper()


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
        if one != outermost and one not in around.names:
            yield one


def _named(node: ir.Node) -> Iterable[str]:
    match node:
        case ir.Const(value=str(text)) if len(text) <= _LONGEST and _CODE.search(text):
            words = _WORD.findall(text)
            return [TEXT + text] if words == [text] else words
        case ir.FString(parts=parts):
            return [word for part in parts if isinstance(part, str) for word in _WORD.findall(part)]
    return ()
