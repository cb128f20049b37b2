"""The only call of a function becomes its body."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
    rewritten,
    span,
    stored,
)

_FIXED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Yield,
    ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Delete, ast.Import, ast.ImportFrom, ast.Match, ast.Try,
)  # fmt: skip
_FRAME = {"super", "locals", "vars", "dir", "eval", "exec", "globals", "__class__"}


class _Call(NamedTuple):
    statement: ast.Expr | ast.Assign | ast.Return
    call: ast.Call
    caller: Function | ast.ClassDef | None


def inlined_helpers(program: Program) -> Iterator[Rewritten]:
    calls = dict(_calls(program.tree))
    for function in program.tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in calls:
            call = calls[function.name]
            if _can_move(program, function) and _fits(program, function, call):
                yield _inlined(program, function, call)


def _calls(tree: ast.Module) -> Iterator[tuple[str, _Call]]:
    """Each call of a plain name that is the whole value of a statement, by that name."""
    todo: list[tuple[ast.AST, Function | ast.ClassDef | None]] = [(tree, None)]
    while todo:
        node, caller = todo.pop()
        caller = node if isinstance(node, Function | ast.ClassDef) else caller
        todo += [(child, caller) for child in ast.iter_child_nodes(node)]
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call):
                yield name, _Call(node, call, caller)
            case ast.Assign(value=ast.Call(func=ast.Name(id=name)) as call):
                yield name, _Call(node, call, caller)
            case ast.Return(value=ast.Call(func=ast.Name(id=name)) as call):
                yield name, _Call(node, call, caller)


def _can_move(program: Program, function: ast.FunctionDef) -> bool:
    inside = [n for n in ast.walk(function) if n is not function]
    returns = [n for n in inside if isinstance(n, ast.Return)]
    args = function.args
    return not (
        function.decorator_list
        or args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs
        or any(isinstance(n, _FIXED) for n in inside)
        or any(n is not function.body[-1] for n in returns)
        or any(isinstance(n, ast.Attribute) and is_mangled(n.attr) for n in inside)
        or any(isinstance(n, ast.Constant | ast.JoinedStr) and n.lineno != n.end_lineno for n in inside)
        or names_of([function]) & _FRAME
        or program.count(function.name) != 2  # here and in the call
        or function.body[0].lineno <= function.lineno
    )  # fmt: skip


def _fits(program: Program, function: ast.FunctionDef, found: _Call) -> bool:
    """Return whether the call gives each parameter a value, and its scope leaves the other names alone."""
    call, names = found.call, [a.arg for a in function.args.args]
    given = names[: len(call.args)] + [k.arg or "" for k in call.keywords]
    constant = all(isinstance(d, ast.Constant) for d in function.args.defaults)
    optional = names[len(names) - len(function.args.defaults) :]
    complete = len(call.args) <= len(names) and set(names) - set(optional) <= set(given) <= set(names)
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    used = loaded([function]) - stored([function]) - set(names)
    return (
        complete
        and constant
        and not starred
        and not isinstance(found.caller, ast.ClassDef)
        and (found.caller is None or not used & bound_in(found.caller))
        and program.stand_alone(found.statement, found.statement)
        and program.stand_alone(function.body[0], function.body[-1])
    )


def _inlined(program: Program, function: ast.FunctionDef, found: _Call) -> Rewritten:
    scope = program.function_scope(function)
    names = {name: program.fresh(name) for name in {a.name for a in scope.assignments}}
    lines = program.replaced(program.bindings(scope, set(names)), names)
    start, end = found.statement.lineno, found.statement.end_lineno or found.statement.lineno
    away = {*span(function), *range(start, end + 1)}
    indent = " " * found.statement.col_offset
    width = function.body[0].col_offset
    body = [
        line._replace(text=indent + line.text[width:] if line.text.strip() else "")
        for line in lines[function.body[0].lineno - 1 : function.body[-1].end_lineno]
    ]
    body, result = _returned(program, function, body, indent)
    values = [
        Line(f"{indent}{names[name]} = ({text})", start)
        for name, text in _arguments(program, function, found)
    ]
    new = [
        *(line for line in lines[: start - 1] if line.row not in away),
        *_split(values),
        *body,
        *_ending(program, found.statement, result, indent),
        *(line for line in lines[end:] if line.row not in away),
    ]
    made = rewritten("inlined", f"{function.name} at line {start}", {MAIN: new})
    return made._replace(call=start, moved=span(function))


def _arguments(program: Program, function: ast.FunctionDef, found: _Call) -> Iterator[tuple[str, str]]:
    """The parameters and the text of the value that each gets, in the order of evaluation."""
    args = function.args
    names = [a.arg for a in args.args]
    given = [
        *zip(names, found.call.args, strict=False),
        *((k.arg or "", k.value) for k in found.call.keywords),
    ]
    defaults = zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True)
    given += [(name, value) for name, value in defaults if name not in dict(given)]
    for name, value in given:
        yield name, ast.get_source_segment(program.text, value) or ""


def _split(lines: list[Line]) -> Iterator[Line]:
    for line in lines:
        yield from (Line(text, line.row) for text in line.text.split("\n"))


def _returned(
    program: Program, function: ast.FunctionDef, body: list[Line], indent: str
) -> tuple[list[Line], str]:
    """The body without its `return`, and the name that has the result."""
    last = function.body[-1]
    if not isinstance(last, ast.Return):
        return body, "None"
    at = last.lineno - function.body[0].lineno
    if last.value is None:
        return body[:at], "None"
    name = program.fresh("returned")
    text = body[at].text.replace("return", f"{name} =", 1)
    return [*body[:at], body[at]._replace(text=text), *body[at + 1 :]], name


def _ending(program: Program, statement: ast.stmt, result: str, indent: str) -> list[Line]:
    """The statement of the call, with the result in the place of the call."""
    match statement:
        case ast.Assign(targets=targets):
            left = " = ".join(ast.get_source_segment(program.text, t) or "" for t in targets)
            return [Line(f"{indent}{text}", statement.lineno) for text in f"{left} = {result}".split("\n")]
        case ast.Return():
            return [Line(f"{indent}return {result}", statement.lineno)]
    return []
