"""`if a: X else: Y` becomes `if not (a): Y else: X`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from libcst.metadata import CodeRange

from benchmarks.metamorphic.program import MAIN, Line, Program, Rewritten, rewritten


def swapped_branches(program: Program) -> Iterator[Rewritten]:
    before = _normal(program.text)
    for node in (*program.nodes(cst.If), *program.nodes(cst.IfExp)):
        lines = _swapped(program, node) if isinstance(node, cst.If) else _swapped_expression(program, node)
        if lines is not None:
            made = rewritten("branches", f"line {program.place(node)[0]}", {MAIN: lines})
            if _normal(made.files[MAIN]) == before:
                yield made


def _swapped(program: Program, node: cst.If) -> list[Line] | None:
    """The lines with both blocks exchanged; None where a block is not on lines of its own."""
    test = program.positions[node.test]
    head = program.texts[program.place(node)[0] - 1]
    if not head.lstrip().startswith(("if", "elif")) or not _is_block(node.body):
        return None
    lines = _negated(program.lines, test)
    indent = head[: len(head) - len(head.lstrip())]
    body_end = _last_line(program, node.body)
    if node.orelse is None:
        added = [Line(f"{indent}    pass"), Line(f"{indent}else:")]
        return [*lines[: test.end.line], *added, *lines[test.end.line :]]
    if not isinstance(node.orelse, cst.Else) or not _is_block(node.orelse.body):
        return None
    middle = program.place(node.orelse)[0]
    end = _last_line(program, node.orelse.body)
    body, orelse = lines[test.end.line : body_end], lines[middle:end]
    between = lines[body_end : middle - 1]  # comments
    return [*lines[: test.end.line], *orelse, *between, lines[middle - 1], *body, *lines[end:]]


def _is_block(suite: cst.BaseSuite) -> bool:
    return isinstance(suite, cst.IndentedBlock)


def _last_line(program: Program, suite: cst.BaseSuite) -> int:
    return program.positions[suite.body[-1]].end.line


def _swapped_expression(program: Program, node: cst.CSTNode) -> list[Line] | None:
    """`a if t else b` becomes `b if not (t) else a`."""
    assert isinstance(node, cst.IfExp)
    body, orelse, test = (program.positions[part] for part in (node.body, node.orelse, node.test))
    if len({place.line for part in (body, orelse, test) for place in (part.start, part.end)}) > 1:
        return None
    row = test.start.line - 1
    text = program.texts[row]
    parts = [text[p.start.column : p.end.column] for p in (body, test, orelse)]
    between = text[body.end.column : test.start.column], text[test.end.column : orelse.start.column]
    new = f"({parts[2]}){between[0]}not ({parts[1]}){between[1]}({parts[0]})"
    lines = list(program.lines)
    text = f"{text[: body.start.column]}{new}{text[orelse.end.column :]}"
    lines[row] = lines[row]._replace(text=text)
    return lines


def _negated(lines: list[Line], test: CodeRange) -> list[Line]:
    new = list(lines)
    for place, text in ((test.end, ")"), (test.start, "not (")):
        line = new[place.line - 1]
        new[place.line - 1] = line._replace(
            text=f"{line.text[: place.column]}{text}{line.text[place.column :]}"
        )
    return new


def _normal(text: str) -> str:
    """The tree of a program with no test negated."""
    return ast.dump(_Normal().visit(ast.parse(text)))


class _Normal(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST:
        node.orelse = node.orelse or [ast.Pass()]
        while isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
            node.test, node.body, node.orelse = node.test.operand, node.orelse, node.body
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        while isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
            node.test, node.body, node.orelse = node.test.operand, node.orelse, node.body
        return self.generic_visit(node)
