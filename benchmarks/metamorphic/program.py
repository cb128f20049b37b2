"""A program as text and tree, with where each name is bound and used."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import libcst as cst
from libcst.metadata import (
    Assignment,
    CodeRange,
    FunctionScope,
    MetadataWrapper,
    PositionProvider,
    Scope,
    ScopeProvider,
)

from xlamig.knowledge.values import kinds_like

MAIN = "program.py"
BUILTINS = frozenset(dir(builtins))
Function = ast.FunctionDef | ast.AsyncFunctionDef
Place = tuple[int, int]


_FORMS = ("{}_", "my_{}", "{}__", "my_own_{}")


class Rewritten(NamedTuple):
    """A program after a rewrite. `rows` maps a file and a line to the line of the program before."""

    kind: str
    what: str
    files: dict[str, str]
    rows: dict[tuple[str, int], int]
    folder: str = ""  # that holds the files, seen from where xlamig is started
    call: int = 0  # the line before of the call that stands for the moved lines, 0 for a new one
    moved: range = range(0)


class Line(NamedTuple):
    """A line of a rewritten program and the line that it was; 0 for a new one."""

    text: str
    row: int = 0


def rewritten(kind: str, what: str, files: dict[str, list[Line]]) -> Rewritten:
    texts = {name: "\n".join(line.text for line in lines) for name, lines in files.items()}
    rows = {
        (name, i): line.row for name, lines in files.items() for i, line in enumerate(lines, 1) if line.row
    }
    return Rewritten(kind, what, texts, rows)


class Program:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.texts = text.split("\n")
        self.lines = [Line(line, row) for row, line in enumerate(self.texts, 1)]

    @cached_property
    def _metadata(self) -> MetadataWrapper:
        return MetadataWrapper(cst.parse_module(self.text), unsafe_skip_copy=True)

    @property
    def module(self) -> cst.Module:
        return self._metadata.module

    @cached_property
    def positions(self) -> dict[cst.CSTNode, CodeRange]:
        return dict(self._metadata.resolve(PositionProvider))

    @cached_property
    def scopes(self) -> dict[cst.CSTNode, Scope]:
        return {node: scope for node, scope in self._metadata.resolve(ScopeProvider).items() if scope}

    def nodes(self, kind: type[cst.CSTNode]) -> list[cst.CSTNode]:
        return [node for node in self.positions if isinstance(node, kind)]

    def place(self, node: cst.CSTNode) -> Place:
        start = self.positions[node].start
        return start.line, start.column

    @cached_property
    def statement_rows(self) -> list[int]:
        """The first line of the innermost statement around each line, from line 0 on."""
        rows = list(range(len(self.texts) + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt):
                for row in span(node):
                    rows[row] = node.lineno
        return rows

    @cached_property
    def nodes_in_order(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def scope_bindings(self) -> list[object]:
        return _bindings(symtable.symtable(self.text, "", "exec"), {})

    @cached_property
    def words(self) -> set[str]:
        """Each identifier that occurs anywhere, in strings and comments too."""
        return set(re.findall(r"\w+", self.text))

    def fresh(self, name: str) -> str:
        """A name that does not occur; if possible one that says as much to a reader and to xlamig."""
        unused = [new for form in _FORMS if (new := form.format(name)) not in self.words]
        return next((new for new in unused if kinds_like(new) == kinds_like(name)), unused[0])

    def count(self, name: str) -> int:
        """How often an identifier occurs, in strings and comments too."""
        return len(re.findall(rf"\b{name}\b", self.text))

    def stand_alone(self, first: ast.stmt, last: ast.stmt) -> bool:
        """Return whether statements share no line with others, and no line is further left than they are."""
        end = last.end_lineno or last.lineno
        head = self.texts[first.lineno - 1][: first.col_offset]
        tail = self.texts[end - 1].encode()[last.end_col_offset or 0 :].decode().strip()
        inside = self.texts[first.lineno - 1 : end]
        shallow = any(line.strip() and line[: first.col_offset].strip() for line in inside)
        is_elif = self.texts[first.lineno - 1].lstrip().startswith("elif")
        return not is_elif and not head.strip(" ") and (not tail or tail[0] == "#") and not shallow

    def function_scope(self, function: Function) -> FunctionScope:
        for node in self.nodes(cst.FunctionDef):
            assert isinstance(node, cst.FunctionDef)
            if self.positions[node.name].start.line == function.lineno:
                scope = self.scopes[node.body.body[0]]
                assert isinstance(scope, FunctionScope)
                return scope
        raise ValueError(function.name)

    def bindings(self, scope: FunctionScope, names: set[str]) -> set[Place]:
        """Where a function binds and uses some of its names."""
        nodes = {
            assignment.node.name if isinstance(assignment.node, cst.Param) else assignment.node
            for assignment in scope.assignments
            if assignment.name in names and isinstance(assignment, Assignment)
        }
        return {self.place(node) for node in nodes} | self.uses(scope, names)

    def uses(self, scope: Scope, names: set[str]) -> set[Place]:
        """Where names are used; nowhere, which is no rewrite, if one is used in a string (an annotation)."""
        found = [a for a in scope.assignments if a.name in names]
        nodes = {access.node for assignment in found for access in assignment.references}
        plain = all(isinstance(node, cst.Name | cst.Attribute) for node in nodes)
        return {self.place(node) for node in nodes} if plain else set()

    def replaced(self, places: Iterable[Place], names: dict[str, str]) -> list[Line]:
        """The lines with the name at each place replaced."""
        new = [line.text for line in self.lines]
        for row, column in sorted(places, reverse=True):
            line = new[row - 1]
            end = column
            while end < len(line) and (line[end].isalnum() or line[end] == "_"):
                end += 1
            new[row - 1] = line[:column] + names[line[column:end]] + line[end:]
        return [Line(text, row) for row, text in enumerate(new, 1)]


def span(node: ast.stmt) -> range:
    """The lines of a statement, with its decorators."""
    decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
    return range(min([node.lineno, *decorators]), (node.end_lineno or node.lineno) + 1)


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that an assignment, loop, `with` or `del` inside the nodes binds."""
    return {n.id for n in _names(nodes) if not isinstance(n.ctx, ast.Load)}


def loaded(nodes: Iterable[ast.AST]) -> set[str]:
    """The names whose values the nodes use, those of `x += 1` too."""
    nodes = list(nodes)
    found = {n.id for n in _names(nodes) if isinstance(n.ctx, ast.Load)}
    changed = (n.target for node in nodes for n in ast.walk(node) if isinstance(n, ast.AugAssign))
    return found | {target.id for target in changed if isinstance(target, ast.Name)}


def names_of(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for n in _names(nodes)}


def parameters(function: Function) -> list[str]:
    args = function.args
    stars = [a for a in (args.vararg, args.kwarg) if a]
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *stars)]


def bound_in(function: Function) -> set[str]:
    """The names that a function binds in any way, in its own scope or an inner one."""
    found = stored([function]) | set(parameters(function))
    found |= {(n.asname or n.name).partition(".")[0] for n in ast.walk(function) if isinstance(n, ast.alias)}
    inner = (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return found | {n.name or "" for n in ast.walk(function) if isinstance(n, inner) and n is not function}


def is_mangled(name: str) -> bool:
    """Return whether a name means something else in a class."""
    return name.startswith("__") and not name.endswith("__")


def _names(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    return (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


def same_but_for_names(program: Program, new: str, names: dict[str, str]) -> bool:
    """Return whether Python reads the same program in a new text, with the same scope for each name.

    `names` maps each name of the new text to the one that it replaces."""
    nodes = list(ast.walk(ast.parse(new)))
    return (
        len(nodes) == len(program.nodes_in_order)
        and all(_same_node(a, b, names) for a, b in zip(program.nodes_in_order, nodes, strict=True))
        and _bindings(symtable.symtable(new, "", "exec"), names) == program.scope_bindings
    )


def _same_node(old: ast.AST, new: ast.AST, names: dict[str, str]) -> bool:
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.alias) and isinstance(new, ast.alias):
        bound = new.asname or new.name
        return old.name == new.name and names.get(bound, bound) == (old.asname or old.name)
    bound_here = isinstance(old, ast.Name | ast.arg | ast.ExceptHandler)
    for field in old._fields:
        before, after = getattr(old, field, None), getattr(new, field, None)
        if isinstance(before, ast.AST | list):
            continue  # walked
        if before != (names.get(after, after) if bound_here and isinstance(after, str) else after):
            return False
    return True


def _bindings(table: symtable.SymbolTable, names: dict[str, str]) -> list[object]:
    symbols = sorted(
        (names.get(s.get_name(), s.get_name()), s.is_local(), s.is_global(), s.is_free(), s.is_parameter())
        for s in table.get_symbols()
    )
    return [table.get_type(), symbols, [_bindings(inner, names) for inner in table.get_children()]]
