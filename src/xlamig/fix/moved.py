"""Moves to CUDA in a block, written for another device under the conditions and loops that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xlamig import ir
from xlamig.fix.context import FixContext
from xlamig.fix.placements import placed_below
from xlamig.fix.scopes import dotted_name


def moves_of(block: ir.Block, device: str, context: FixContext) -> list[str] | None:
    """Return lines that move to `device` what a block moves to CUDA; None for other uses of CUDA, and where
    a move or its condition needs a value that the block alone makes."""
    return _Writer(context, device, frozenset(_made_in(block))).lines(block)


@dataclass(frozen=True, slots=True)
class _Writer:
    context: FixContext
    device: str
    made: frozenset[str]  # paths that have their values in the block alone

    def lines(self, block: ir.Block) -> list[str] | None:
        found: list[str] = []
        for statement in block:
            lines = self._statement(statement)
            if lines is None:
                return None
            if len(lines) != 1 or lines[0] not in found:
                found += lines
        return found

    def _statement(self, statement: ir.Stmt) -> list[str] | None:
        match statement:
            case ir.Assign(targets=(target,), value=value) if any(map(_is_move, ir.walk(value))):
                name = self._path(target)
                return [f"{name} = {name}.to({self.device})"] if name and _holds(value, name) else None
            case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=owner)) as call) if _is_move(call):
                name = self._path(owner)
                return [f"{name}.to({self.device})"] if name else None
            case ir.ExprStmt():
                return []
            case ir.If():
                return self._branches(statement)
            case ir.For(orelse=(), is_async=False) if not any(placed_below(statement.iter)):
                return self._loop(statement)
            case ir.Stmt() if any(placed_below(statement)):
                return None
        return []

    def _branches(self, node: ir.If) -> list[str] | None:
        """An `if` with the same test. What asks for the number of GPUs only decides how to move."""
        body, other = self.lines(node.body), self.lines(node.orelse)
        if body is None or other is None or not (body or other):
            return [] if body == other == [] else None
        if any(placed_below(node.test)) or _moves_in(body) == _moves_in(other):
            return [*body, *(line for line in other if line not in body)]
        test = self._repeated(node.test)
        if test is None:
            return None
        rest = ["else:", *self._indented(other)] if other else []
        return [f"if {test}:", *self._indented(body or ["pass"]), *rest]

    def _loop(self, node: ir.For) -> list[str] | None:
        body = self.lines(node.body)
        if not body:
            return body
        target, items = self._repeated(node.target), self._repeated(node.iter)
        if target is None or items is None:
            return None
        return [f"for {target} in {items}:", *self._indented(body)]

    def _repeated(self, node: ir.Expr) -> str | None:
        """The text of an expression; None where it cannot stand elsewhere."""
        text = self.context.text_of(node)
        return None if "\n" in text or self._is_made(node) else text

    def _is_made(self, node: ir.Expr) -> bool:
        return any(dotted_name(inner) in self.made for inner in ir.walk(node))

    def _indented(self, lines: list[str]) -> list[str]:
        return [f"{self.context.module.indent}{line}" for line in lines]

    def _path(self, node: ir.Expr) -> str:
        """The path of what is moved; "" for other expressions, and for what the block makes."""
        name = dotted_name(node)
        return "" if name.startswith(".") or self._is_made(node) else name


def _moves_in(lines: list[str]) -> set[str]:
    return {line.rpartition(" = ")[2] for line in lines}


def _made_in(block: ir.Block) -> Iterator[str]:
    """Yield the paths that a block gives a value that does not hold the old one."""
    for statement in (inner for outer in block for inner in ir.statements(outer)):
        if not isinstance(statement, ir.Assign):
            continue
        for target in statement.targets:
            for part in target.elements if isinstance(target, ir.Sequence) else (target,):
                name = dotted_name(part)
                if not name.startswith(".") and not _holds(statement.value, name):
                    yield name


def _is_move(node: ir.Node) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(attr="cuda")):
            return True
        case ir.Call(func=ir.Attribute(attr="to"), args=(ir.Arg(value=ir.Const(value=str(text))), *_)):
            return text.startswith("cuda")
    return False


def _holds(value: ir.Expr, path: str) -> bool:
    return any(dotted_name(node) == path for node in ir.walk(value))
