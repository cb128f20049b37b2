"""Rewrites that keep what a program does. Each tells which line of the new text was which line before."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import NamedTuple

MAIN = "program.py"
HELPERS = "moved_helpers.py"
_BUILTINS = frozenset(dir(builtins))


class Rewritten(NamedTuple):
    """A program after a rewrite. `rows` maps a file and a line to the line of the program before."""

    kind: str
    what: str
    files: dict[str, str]
    rows: dict[tuple[str, int], int]
    folder: str = ""  # that holds the files, seen from where xlamig is started


def rewrites(text: str) -> Iterator[Rewritten]:
    """Every rewrite that applies to a program."""
    tree = ast.parse(text)
    yield from swapped_branches(text, tree)
    yield from renamed_variables(text, tree)
    yield from aliased_imports(text, tree)
    yield from split_files(text, tree)
    yield _same_lines("start", "two folders above", text, text)._replace(folder="deeper/down")


def _same_lines(kind: str, what: str, old: str, new: str) -> Rewritten:
    rows = {(MAIN, row): row for row in range(1, old.count("\n") + 2)}
    return Rewritten(kind, what, {MAIN: new}, rows)


# ---------------------------------------------------------------------- branches


def swapped_branches(text: str, tree: ast.Module) -> Iterator[Rewritten]:
    """`if a: X else: Y` becomes `if not (a): Y else: X`."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and (order := _swapped(node, lines)):
            head = lines[node.lineno - 1]
            start, end = node.test.col_offset, node.test.end_col_offset
            tested = f"{head[:start]}not ({head[start:end]}){head[end:]}"
            new = [tested if row == node.lineno else lines[row - 1] for row in order]
            rows = {(MAIN, i): row for i, row in enumerate(order, 1)}
            yield Rewritten("branches", f"line {node.lineno}", {MAIN: "\n".join(new)}, rows)


def _swapped(node: ast.If, lines: list[str]) -> list[int]:
    """The lines in their new order; empty if the branches are not blocks of whole lines."""
    if not node.orelse or node.test.lineno != node.test.end_lineno:
        return []
    first, last = node.body[0].lineno, node.body[-1].end_lineno or 0
    start, end = node.orelse[0].lineno, node.orelse[-1].end_lineno or 0
    middle = next((r for r in range(last + 1, start) if lines[r - 1].strip() == "else:"), 0)
    plain = first > node.lineno and middle and lines[node.lineno - 1].lstrip().startswith("if ")
    if not plain or not lines[node.lineno - 1].isascii():
        return []
    whole = range(1, len(lines) + 1)
    body, orelse = range(node.lineno + 1, middle), range(middle + 1, end + 1)
    return [*whole[: node.lineno], *orelse, middle, *body, *whole[end:]]


# ---------------------------------------------------------------------- names


def renamed_variables(text: str, tree: ast.Module) -> Iterator[Rewritten]:
    """A local variable of a function gets another name that says as little."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for name in sorted(_locals(function)):
                places = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
                yield _renamed("variable", text, places, name, f"{name}_")


def _locals(function: ast.FunctionDef) -> set[str]:
    """The plain variables of a function that nothing outside or inside it sees; names that xlamig reads
    something into keep it with a `_` behind."""
    inner = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
    if any(isinstance(node, inner) for node in ast.walk(function) if node is not function):
        return set()
    args = function.args
    taken = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    named = {n.name for n in ast.walk(function) if isinstance(n, ast.ExceptHandler)}
    return {n for n in stored - taken - named if not n.endswith("_") and len(n) > 2}


def _renamed(kind: str, text: str, places: list[ast.Name], old: str, new: str) -> Rewritten:
    lines = [line.encode() for line in text.split("\n")]
    for node in sorted(places, key=lambda n: (n.lineno, -n.col_offset)):
        line = lines[node.lineno - 1]
        at, end = node.col_offset, node.col_offset + len(old.encode())
        if line[at:end] == old.encode():  # not so in some f-strings
            lines[node.lineno - 1] = line[:at] + new.encode() + line[end:]
    return _same_lines(kind, old, text, b"\n".join(lines).decode())


def aliased_imports(text: str, tree: ast.Module) -> Iterator[Rewritten]:
    """`import torch` becomes `import torch as aliased`."""
    lines = text.split("\n")
    for node in tree.body:
        if not isinstance(node, ast.Import) or len(node.names) != 1 or node.names[0].asname:
            continue
        name = node.names[0].name
        same = [n for n in tree.body if isinstance(n, ast.Import) and n.names[0].name.startswith(f"{name}.")]
        if "." in name or same or _bound_again(tree, name):
            continue
        places = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
        made = _renamed("import", text, places, name, "aliased")
        new = made.files[MAIN].split("\n")
        new[node.lineno - 1] = lines[node.lineno - 1].replace(
            f"import {name}", f"import {name} as aliased", 1
        )
        yield made._replace(files={MAIN: "\n".join(new)})


def _bound_again(tree: ast.Module, name: str) -> bool:
    stores = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    params = (n.arg for n in ast.walk(tree) if isinstance(n, ast.arg))
    imports = sum(
        alias.name.partition(".")[0] == name or alias.asname == name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )
    return any(n.id == name for n in stores) or name in params or imports > 1


# ---------------------------------------------------------------------- files


def split_files(text: str, tree: ast.Module) -> Iterator[Rewritten]:
    """The functions and classes that need nothing but imports and each other move to another file."""
    moved = _movable(tree)
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    own = [n for n in tree.body if n not in moved and n not in imports]
    if not moved or not own or any(isinstance(n, ast.ImportFrom) and n.level for n in imports):
        return
    lines = text.split("\n")
    future = [n for n in imports if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    first = max((n.end_lineno or 0 for n in future), default=0) or _after_docstring(tree)
    away = {row for node in moved for row in _rows(node)}
    names = ", ".join(getattr(node, "name", "") for node in moved)
    order = [row for row in range(1, len(lines) + 1) if row not in away]
    at = sum(row <= first for row in order)
    main = [lines[row - 1] for row in order]
    main.insert(at, f"from {HELPERS.removesuffix('.py')} import {names}")
    rows = {(MAIN, i + (i > at)): row for i, row in enumerate(order, 1)}
    kept = [row for node in (*imports, *moved) for row in _rows(node)]
    rows |= {(HELPERS, i): row for i, row in enumerate(kept, 1)}
    files = {MAIN: "\n".join(main), HELPERS: "\n".join(lines[row - 1] for row in kept) + "\n"}
    yield Rewritten("split", names, files, rows)


def _rows(node: ast.stmt) -> range:
    decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
    return range(min([node.lineno, *decorators]), (node.end_lineno or node.lineno) + 1)


def _after_docstring(tree: ast.Module) -> int:
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
    top = {n.id for node in tree.body if node not in defined.values() for n in _stored(node)}
    fixed = {name for name in defined if name in top}
    while True:
        rest = {name: node for name, node in defined.items() if name not in fixed}
        bad = {
            name
            for name, node in rest.items()
            if _free(node) & everything - imported - _BUILTINS - rest.keys() or "__file__" in _free(node)
        }
        if not bad:
            return [node for name, node in rest.items() if name != "main"]
        fixed |= bad


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _free(node: ast.AST) -> set[str]:
    """The names that a definition uses and does not bind itself."""
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in _stored(node)} | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    named = {getattr(n, "name", None) for n in ast.walk(node) if n is not node} - {None}
    globals_ = {name for n in ast.walk(node) if isinstance(n, ast.Global) for name in n.names}
    return (used - bound - named) | globals_
