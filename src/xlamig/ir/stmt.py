"""Statements of the IR."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.ir.expr import Arg, Expr, Param
from xlamig.ir.node import Node


@dataclass(slots=True, eq=False)
class Stmt(Node):
    pass


Block = tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class ExprStmt(Stmt):
    value: Expr


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True, eq=False)
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class AnnAssign(Stmt):
    target: Expr
    annotation: Expr
    value: Expr | None


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    value: Expr | None
    cause: Expr | None


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    message: Expr | None


@dataclass(slots=True, eq=False)
class Delete(Stmt):
    targets: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Jump(Stmt):
    kind: str  # "pass" | "break" | "continue"


@dataclass(slots=True, eq=False)
class Scoping(Stmt):
    kind: str  # "global" | "nonlocal"
    names: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Alias(Node):
    name: str  # dotted
    asname: str | None
    asname_start: int


@dataclass(slots=True, eq=False)
class Import(Stmt):
    names: tuple[Alias, ...]


@dataclass(slots=True, eq=False)
class ImportFrom(Stmt):
    module: str  # dotted, "" in `from . import x`
    level: int
    names: tuple[Alias, ...]  # one alias named "*" for a star import
    module_start: int


@dataclass(slots=True, eq=False)
class If(Stmt):
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iter: Expr
    body: Block
    orelse: Block
    is_async: bool


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class WithItem(Node):
    value: Expr
    target: Expr | None


@dataclass(slots=True, eq=False)
class With(Stmt):
    items: tuple[WithItem, ...]
    body: Block
    is_async: bool


@dataclass(slots=True, eq=False)
class Handler(Node):
    type: Expr | None
    name: str | None
    body: Block


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


@dataclass(slots=True, eq=False)
class Case(Node):
    pattern: Expr  # the pattern read as an expression: values and captures
    captures: tuple[str, ...]
    guard: Expr | None
    body: Block


@dataclass(slots=True, eq=False)
class Match(Stmt):
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(slots=True, eq=False)
class FunctionDef(Stmt):
    name: str
    name_start: int
    params: tuple[Param, ...]
    returns: Expr | None
    decorators: tuple[Expr, ...]
    body: Block
    is_async: bool


@dataclass(slots=True, eq=False)
class ClassDef(Stmt):
    name: str
    name_start: int
    args: tuple[Arg, ...]
    decorators: tuple[Expr, ...]
    body: Block


@dataclass(slots=True, eq=False)
class Module(Node):
    body: Block
    insert_at: int  # where a first import may be written: after docstring and `__future__`
    newline: str
    indent: str
