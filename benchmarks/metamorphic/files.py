"""Functions and classes move to another file; xlamig starts in another directory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.metamorphic.program import (
    BUILTINS,
    MAIN,
    Line,
    Place,
    Program,
    Rewritten,
    loaded,
    names_of,
    rewritten,
    span,
    stored,
)

HELPERS = "moved_helpers.py"
_MODULE = HELPERS.removesuffix(".py")


def started_elsewhere(program: Program) -> Iterator[Rewritten]:
    made = rewritten("start", "two folders above", {MAIN: program.lines})
    yield made._replace(folder="deeper/down")


def split_files(program: Program) -> Iterator[Rewritten]:
    """The functions and classes that need nothing but imports and each other, and that the rest needs, move
    to another file: what nothing uses is dead in a script, and not in a file that others import."""
    moved = _movable(program.tree)
    imports = [n for n in program.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    rest = [n for n in program.tree.body if n not in moved and n not in imports]
    if not moved or not rest or any(isinstance(n, ast.ImportFrom) and n.level for n in imports):
        return
    names = [getattr(node, "name", "") for node in moved if getattr(node, "name", "") in names_of(rest)]
    if not names:
        return  # the file would be a program of its own
    moved = [node for node in moved if getattr(node, "name", "") in _needed(names, moved)]
    away = {row for node in moved for row in span(node)}
    first = _after_docstring(program.tree, imports)
    helpers = [program.lines[row - 1] for node in (*imports, *moved) for row in span(node)]

    def files(lines: list[Line], added: str) -> dict[str, list[Line]]:
        kept = [line for line in lines if line.row not in away]
        at = sum(line.row <= first for line in kept)
        return {MAIN: [*kept[:at], Line(added), *kept[at:]], HELPERS: [*helpers, Line("")]}

    what = ", ".join(names)
    yield rewritten("split", what, files(program.lines, f"from {_MODULE} import {what}"))
    places = _uses(program, set(names))
    if places is not None:
        lines = program.replaced(places, {name: f"{_MODULE}.{name}" for name in names})
        yield rewritten("module", what, files(lines, f"import {_MODULE}"))


def _needed(names: list[str], moved: list[ast.stmt]) -> set[str]:
    """The names of what is moved that these need, with themselves."""
    found, waiting = set(names), list(names)
    while waiting:
        name = waiting.pop()
        inner = names_of(node for node in moved if getattr(node, "name", "") == name)
        waiting += inner - found
        found |= inner
    return found


def _uses(program: Program, names: set[str]) -> set[Place] | None:
    """Where the names of the module are used; None if something else binds one of them."""
    found = [n for n in ast.walk(program.tree) if isinstance(n, ast.Name) and n.id in names]
    if any(not isinstance(n.ctx, ast.Load) for n in found):
        return None
    bound = {n.arg for n in ast.walk(program.tree) if isinstance(n, ast.arg)}
    bound |= {n.asname or n.name for n in ast.walk(program.tree) if isinstance(n, ast.alias)}
    quoted = {n.value for n in ast.walk(program.tree) if isinstance(n, ast.Constant)}
    if bound & names or quoted & names:
        return None
    return program.uses(program.scopes[program.module], names)


def _after_docstring(tree: ast.Module, imports: list[ast.Import | ast.ImportFrom]) -> int:
    """The last line that must come before any import."""
    future = [n for n in imports if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    if future:
        return max(n.end_lineno or 0 for n in future)
    first = tree.body[0] if tree.body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return (first.end_lineno or 0) if first is not None and is_text else 0


def _movable(tree: ast.Module) -> list[ast.stmt]:
    defined = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    everything = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    fixed = {name for name in defined if name in stored(n for n in tree.body if n not in defined.values())}
    while True:
        rest = {name: node for name, node in defined.items() if name not in fixed}
        bad = {
            name
            for name, node in rest.items()
            if _free(node) & everything - imported - BUILTINS - rest.keys() or "__file__" in _free(node)
        }
        if not bad:
            return [node for name, node in rest.items() if name != "main"]
        fixed |= bad


def _free(node: ast.AST) -> set[str]:
    """The names that a definition uses and does not bind itself."""
    bound = stored([node]) | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    named = {getattr(n, "name", None) for n in ast.walk(node) if n is not node} - {None}
    globals_ = {name for n in ast.walk(node) if isinstance(n, ast.Global) for name in n.names}
    return (loaded([node]) - bound - named) | globals_
