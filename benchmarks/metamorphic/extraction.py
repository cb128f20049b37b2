"""Statements of a function move to a helper that is called in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.metamorphic.program import (
    MAIN,
    Function,
    Line,
    Program,
    Rewritten,
    bound_in,
    is_mangled,
    loaded,
    names_of,
    parameters,
    rewritten,
    span,
    stored,
)

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.For, ast.With, ast.If)
_UNMOVABLE = (
    ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Delete,
    ast.Import, ast.ImportFrom, ast.Try, ast.While, ast.Raise, ast.Pass, ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip
_FIXED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Delete,
    ast.Match,
)  # fmt: skip
_FRAME = {"super", "locals", "vars", "dir", "eval", "exec", "__class__"}
"""These names mean something else in another function."""
_MOST = 3  # extractions per function


class _Run(NamedTuple):
    """Statements that follow each other, and what has a value before them for sure."""

    statements: Sequence[ast.stmt]
    bound: frozenset[str]


def extracted_helpers(program: Program) -> Iterator[Rewritten]:
    for top in program.tree.body:
        owners = [top] if isinstance(top, Function) else getattr(top, "body", [])
        if not isinstance(top, Function | ast.ClassDef):
            continue
        for function in owners:
            if isinstance(function, Function) and _can_give(function):
                for run in _chosen(list(_runs(function.body, frozenset(parameters(function))))):
                    yield from _extracted(program, top, function, run)


def _can_give(function: Function) -> bool:
    inside = list(ast.walk(function))
    own = _own(function)
    targets = {id(n) for c in inside if isinstance(c, ast.comprehension) for n in ast.walk(c.target)}
    variables = stored(n for n in inside if isinstance(n, ast.Name) and id(n) not in targets)
    return not (
        any(isinstance(n, _FIXED) and n is not function for n in inside)
        or own & (variables | set(parameters(function)))
        or any(isinstance(n, ast.Attribute) and is_mangled(n.attr) for n in inside)
        or any("script" in ast.unparse(d) or "jit" in ast.unparse(d) for d in function.decorator_list)
        or names_of([function]) & (_FRAME - {"super"})
    )


def _own(function: Function) -> set[str]:
    """The variables of comprehensions, which live in their own scope."""
    return stored(n.target for n in ast.walk(function) if isinstance(n, ast.comprehension))


def _chosen(runs: list[_Run]) -> list[_Run]:
    return sorted(runs, key=lambda run: -len(run.statements))[:_MOST]


def _runs(block: Sequence[ast.stmt], bound: frozenset[str]) -> Iterator[_Run]:
    """The longest runs of movable statements in each block of a function."""
    current: list[ast.stmt] = []
    before = bound
    for statement in block:
        if _is_movable(statement):
            if not current:
                before = bound
            current.append(statement)
        else:
            if current:
                yield _Run(current, before)
            current = []
        yield from _inner_runs(statement, bound)
        bound |= _binds(statement)
    if current:
        yield _Run(current, before)


def _inner_runs(statement: ast.stmt, bound: frozenset[str]) -> Iterator[_Run]:
    match statement:
        case ast.For(target=target, body=body):
            yield from _runs(body, bound | stored([target]))
        case ast.With(items=items, body=body):
            yield from _runs(body, bound | stored(items))
        case ast.If(body=body, orelse=orelse):
            yield from _runs(body, bound)
            yield from _runs(orelse, bound)
        case ast.While(body=body):
            yield from _runs(body, bound)


def _binds(statement: ast.stmt) -> set[str]:
    """The names that have a value after a statement for sure."""
    match statement:
        case ast.Assign(targets=targets):
            return stored(targets)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return stored([target])
        case ast.With(items=items):  # which may swallow an exception of its body
            return stored(items[:1])
    return set()


def _is_movable(statement: ast.stmt) -> bool:
    inside = list(ast.walk(statement))
    return (
        isinstance(statement, _SIMPLE)
        and not any(isinstance(n, _UNMOVABLE) for n in inside)
        and not names_of([statement]) & _FRAME
        and not (isinstance(statement, ast.AnnAssign) and statement.value is None)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        and not any(isinstance(n, ast.Constant | ast.JoinedStr) and n.lineno != n.end_lineno for n in inside)
    )


def _extracted(program: Program, top: ast.stmt, function: Function, run: _Run) -> Iterator[Rewritten]:
    rows = range(run.statements[0].lineno, (run.statements[-1].end_lineno or 0) + 1)
    signature = _signature(function, run, rows)
    if signature is None or not program.stand_alone(run.statements[0], run.statements[-1]):
        return
    takes, gives = signature
    what = f"lines {rows[0]}-{rows[-1]} of {function.name}"
    for kind in ("helper", "method"):
        is_method = kind == "method"
        if is_method and (not isinstance(top, ast.ClassDef) or takes[:1] != ["self"]):
            continue
        name = program.fresh("extracted")
        before = span(function if is_method else top)[0]
        margin = " " * function.col_offset if is_method else ""
        definition = _definition(program, rows, name, takes, gives, margin)
        arguments = ", ".join(takes[1:] if is_method else takes)
        call = f"{'self.' if is_method else ''}{name}({arguments})"
        indent = " " * run.statements[0].col_offset
        called = Line(f"{indent}{', '.join(gives)} = {call}" if gives else f"{indent}{call}")
        lines = program.lines
        new = [
            *lines[: before - 1],
            *definition,
            *lines[before - 1 : rows[0] - 1],
            called,
            *lines[rows[-1] :],
        ]
        yield rewritten(kind, what, {MAIN: new})._replace(moved=rows)


def _definition(
    program: Program, rows: range, name: str, takes: list[str], gives: list[str], margin: str
) -> list[Line]:
    body = program.lines[rows[0] - 1 : rows[-1]]
    width = len(body[0].text) - len(body[0].text.lstrip())
    moved = [Line(f"{margin}    {line.text[width:]}" if line.text.strip() else "", line.row) for line in body]
    returned = [Line(f"{margin}    return {', '.join(gives)}")] if gives else []
    return [Line(f"{margin}def {name}({', '.join(takes)}):"), *moved, *returned, Line(""), Line("")]


def _signature(function: Function, run: _Run, rows: range) -> tuple[list[str], list[str]] | None:
    """The parameters of a helper and what it returns; None where a name may have no value."""
    local = bound_in(function) - _own(function)
    needed, sure = _exposed(run.statements, frozenset())
    others = [n for n in ast.walk(function) if isinstance(n, ast.stmt | ast.expr) and _apart(n, rows)]
    later = loaded(others) | (needed if _is_repeated(function, rows) else set())
    gives = stored(run.statements) & later & local
    takes = (needed | (gives - sure)) & local  # what the helper may not assign keeps its value
    if not takes <= run.bound:
        return None
    order = list(dict.fromkeys([*parameters(function), *sorted(local)]))
    return [name for name in order if name in takes], [name for name in order if name in gives]


def _is_repeated(function: Function, rows: range) -> bool:
    """Return whether a loop of the function runs the rows: the next iteration reads what this one assigns."""
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    return any(loop.lineno < rows[0] and rows[-1] <= (loop.end_lineno or 0) for loop in loops)


def _apart(node: ast.stmt | ast.expr, rows: range) -> bool:
    return not set(range(node.lineno, (node.end_lineno or node.lineno) + 1)) & set(rows)


def _exposed(statements: Sequence[ast.stmt], sure: frozenset[str]) -> tuple[set[str], frozenset[str]]:
    """The names that statements read before they assign them, and those that have a value after them."""
    needed: set[str] = set()
    for statement in statements:
        parts: list[tuple[Sequence[ast.stmt], frozenset[str]]] = []
        heads: list[ast.AST] = [statement]
        match statement:
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                heads, parts = [iterable], [(body, sure | stored([target])), (orelse, sure)]
            case ast.With(items=items, body=body):
                heads, parts = [*items], [(body, sure | stored(items))]
            case ast.If(test=test, body=body, orelse=orelse):
                heads, parts = [test], [(body, sure), (orelse, sure)]
        needed |= loaded(heads) - sure
        for block, before in parts:
            needed |= _exposed(block, before)[0]
        sure |= _binds(statement)
    return needed, sure
