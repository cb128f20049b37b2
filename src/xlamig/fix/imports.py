"""Import statements as edits: make a name available, take one away that nobody uses any more."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.context import FixContext
from xlamig.fix.environment import writes_environment
from xlamig.fix.scopes import at_module_level, bindings, path_to, reads
from xlamig.per_file import per_file

ImportStmt = ir.Import | ir.ImportFrom
_HEADER_ENDS = (ir.FunctionDef, ir.ClassDef, ir.For, ir.While)
_JOINED = re.compile(r"[ \t\f]*;(?:[ \t\f]|\\\r?\n)*")
_REST_OF_LINE = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|[\r\n]|.|$))*")


@dataclass(frozen=True, slots=True)
class Imported:
    """`name` is what to write in the code, `edits` what makes it available (none if it is)."""

    name: str
    edits: tuple[Edit, ...] = ()


def ensure_module(context: FixContext, module: str, use: tuple[int, int]) -> Imported | None:
    """`import module` for a use at this span; None when the name means something else there."""
    top = module.partition(".")[0]
    for statement, alias in _imports_by_name(context.module).get(module, ()):
        if not _precedes(context, statement, use):
            continue
        if isinstance(statement, ir.ImportFrom):
            bound = alias.asname or alias.name
            if len(bindings(context.module, bound)) == 1:
                return Imported(bound)
            continue
        if alias.asname is None:
            return Imported(module) if _means(context, top, module, use) else None
        if alias.name == module:
            return Imported(alias.asname) if _means(context, alias.asname, module, use) else None
    if not _means(context, top, module, use):
        return None
    edit = insert_import(context, f"import {module}", use)
    return Imported(module, (edit,)) if edit else None


def ensure_name(context: FixContext, module: str, name: str, use: tuple[int, int]) -> Imported | None:
    """`from module import name` for a use at this span; None when `name` is taken."""
    target: ir.ImportFrom | None = None
    for statement in _imports_from(context.module).get(module, ()):
        if not _precedes(context, statement, use) or statement.names[-1].name == "*":
            continue
        for alias in statement.names:
            if alias.name == name:
                bound = alias.asname or name
                return Imported(bound) if len(bindings(context.module, bound)) == 1 else None
        target = statement
    if bindings(context.module, name) or reads(context.module, name):
        return None
    if target is not None:
        return Imported(name, (context.edit(target.names[-1].end, target.names[-1].end, f", {name}"),))
    edit = insert_import(context, f"from {module} import {name}", use)
    return Imported(name, (edit,)) if edit else None


def insert_import(context: FixContext, line: str, use: tuple[int, int]) -> Edit | None:
    """Write `line` after the imports at the top of the file, or where a first import goes."""
    text, newline = context.source.text, context.module.newline
    after = header_end(context, use)
    if after is not None:
        at = line_end(text, after)
        return context.edit(at, at, f"{newline}{line}")
    at = context.module.insert_at
    if at > 0 and text[at - 1] not in "\r\n":
        at = line_end(text, at)
        return (
            None
            if context.module.body and _shares_line(context, at)
            else context.edit(at, at, f"{newline}{line}")
        )
    return context.edit(at, at, f"{line}{newline}")


def insert_beside(context: FixContext, line: str, statement: ir.Stmt) -> Edit | None:
    """Write `line` above `statement` in its own block; None unless it has its line for itself."""
    text = context.source.text
    start = line_start(text, statement.start)
    indent = text[start : statement.start]
    if indent.strip() or _JOINED.match(text, statement.end):
        return None
    return context.edit(start, start, f"{indent}{line}{context.module.newline}")


def remove_import(context: FixContext, statement: ImportStmt, name: str) -> Edit | None:
    """Delete the alias that binds `name`, with its statement when it is the only one.

    Only plain forms: one statement on one line without a comment, at module level.
    """
    text = context.source.text
    start, end = line_start(text, statement.start), line_end(text, statement.end)
    plain = not any(mark in text[start:end] for mark in ";#\\()\r\n")
    if start != statement.start or not plain or statement not in context.module.body:
        return None
    names = statement.names
    index = next((i for i, alias in enumerate(names) if bound_by(alias) == name), None)
    if index is None:
        return None
    if len(names) == 1:
        return context.edit(start, after_newline(text, end), "")
    if index:
        return context.edit(names[index - 1].end, names[index].end, "")
    return context.edit(names[0].start, names[1].start, "")


@per_file
@lru_cache(maxsize=4)  # each fix of a file asks again
def imports_of(module: ir.Module) -> tuple[ImportStmt, ...]:
    """The import statements at module level."""
    return tuple(statement for statement in module.body if isinstance(statement, ImportStmt))


@per_file
@lru_cache(maxsize=4)
def _imports_from(module: ir.Module) -> dict[str, list[ir.ImportFrom]]:
    """Return the absolute `from` imports at module level by the module that they import from."""
    found: dict[str, list[ir.ImportFrom]] = {}
    for statement in imports_of(module):
        if isinstance(statement, ir.ImportFrom) and not statement.level:
            found.setdefault(statement.module, []).append(statement)
    return found


@per_file
@lru_cache(maxsize=4)
def _imports_by_name(module: ir.Module) -> dict[str, list[tuple[ImportStmt, ir.Alias]]]:
    """The imports at module level by what they import, `import a.b` also as one of `a`."""
    found: dict[str, list[tuple[ImportStmt, ir.Alias]]] = {}
    for statement in imports_of(module):
        for alias in statement.names:
            name = alias.name
            if isinstance(statement, ir.ImportFrom):
                found.setdefault(f"{statement.module}.{name}", []).append((statement, alias))
                continue
            while name:
                found.setdefault(name, []).append((statement, alias))
                name = name.rpartition(".")[0]
    return found


def line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def line_end(text: str, offset: int) -> int:
    """Where the logical line ends that `offset`, the end of a statement, stands in."""
    hash_at = re.compile(r"[^#\r\n]*").match(text, offset)
    if hash_at and text[hash_at.end() : hash_at.end() + 1] == "#":
        found = re.compile(r"[^\r\n]*").match(text, offset)
    else:
        found = _REST_OF_LINE.match(text, offset)
    return found.end() if found else offset


def after_newline(text: str, offset: int) -> int:
    if text.startswith("\r\n", offset):
        return offset + 2
    return offset + 1 if text[offset : offset + 1] in ("\r", "\n") else offset


def share_line(text: str, start: int, end: int) -> bool:
    """Nothing but a `;` stands between two statements."""
    return _JOINED.fullmatch(text, start, end) is not None


def bound_by(alias: ir.Alias) -> str:
    """Return the name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def _means(context: FixContext, name: str, module: str, use: tuple[int, int]) -> bool:
    """`name` at this span can only be what `import module` binds it to."""
    bound = bindings(context.module, name)
    declared = any(isinstance(node, ir.Scoping) for node in bound)
    for node in bound:
        if not declared and _is_elsewhere(context, node, use):
            continue
        if not isinstance(node, ir.Alias):
            return False
        statement = path_to(context.module, node.start, node.end)[-2]
        if not isinstance(statement, ir.Import) or (node.asname and node.name != module):
            return False
        if not at_module_level(context.module, node.start, node.end) and _same_function(context, node, use):
            return False  # a local import may come later than the use
    return True


def _is_elsewhere(context: FixContext, node: ir.Node, use: tuple[int, int]) -> bool:
    """It is a local name of a function that the use is not in."""
    around = path_to(context.module, *use)
    owners = [n for n in path_to(context.module, node.start, node.end) if isinstance(n, ir.FunctionDef)]
    inside = owners and owners[-1] is not node  # a function's own name is bound around it
    return bool(inside) and all(owners[-1] is not n for n in around)


def _same_function(context: FixContext, node: ir.Node, use: tuple[int, int]) -> bool:
    around = path_to(context.module, *use)
    owners = [n for n in path_to(context.module, node.start, node.end) if isinstance(n, ir.FunctionDef)]
    return bool(owners) and any(owners[-1] is n for n in around)


def _precedes(context: FixContext, statement: ir.Stmt, use: tuple[int, int]) -> bool:
    """The statement has run when the code at this span does."""
    return statement.end <= use[0] or _in_function(context, use)


def _in_function(context: FixContext, use: tuple[int, int]) -> bool:
    return any(isinstance(n, ir.FunctionDef | ir.Lambda) for n in path_to(context.module, *use))


def header_end(context: FixContext, use: tuple[int, int]) -> int | None:
    """Where the line of the last import ends that stands above the first definition and has run when
    `use` does. What a program sets in the environment before it imports torch stays ahead of it."""
    ends = _header(context.module, context.source.text)
    count = len(ends) if _in_function(context, use) else bisect_right(ends, use[0])
    return ends[count - 1] if count else None


@per_file
@lru_cache(maxsize=4)  # each fix of a file asks again
def _header(module: ir.Module, text: str) -> list[int]:
    """Where the lines end that are to stay above a new import, in order."""
    ends: list[int] = []
    torch_imported = False
    for index, statement in enumerate(module.body):
        if isinstance(statement, _HEADER_ENDS):
            break
        is_import = isinstance(statement, ImportStmt) and not _is_future(statement)
        if is_import or (not torch_imported and writes_environment(text, statement)):
            ends.append(_end_of_line(module.body, index, text))
        torch_imported |= isinstance(statement, ImportStmt) and _imports_torch(statement)
    return ends


def _imports_torch(statement: ImportStmt) -> bool:
    names = [statement.module] if isinstance(statement, ir.ImportFrom) else [a.name for a in statement.names]
    return any(name.partition(".")[0] == "torch" for name in names)


def _is_future(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ImportFrom) and statement.module == "__future__"


def _end_of_line(body: ir.Block, index: int, text: str) -> int:
    """Where the last statement ends that shares its line with this one."""
    while index + 1 < len(body) and share_line(text, body[index].end, body[index + 1].start):
        index += 1
    return body[index].end


def _shares_line(context: FixContext, at: int) -> bool:
    return any(s.start < at < s.end for s in context.module.body)
