"""Statements of the IR."""

from __future__ import annotations

from xlamig.ir.expr import Arg, Expr, Param
from xlamig.ir.node import Node, ir_node


@ir_node
class Stmt(Node):
    pass


Block = tuple[Stmt, ...]


@ir_node
class ExprStmt(Stmt):
    value: Expr


@ir_node
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr


@ir_node
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr


@ir_node
class AnnAssign(Stmt):
    target: Expr
    annotation: Expr
    value: Expr | None


@ir_node
class Return(Stmt):
    value: Expr | None


@ir_node
class Raise(Stmt):
    value: Expr | None
    cause: Expr | None


@ir_node
class Assert(Stmt):
    test: Expr
    message: Expr | None


@ir_node
class Delete(Stmt):
    targets: tuple[Expr, ...]


@ir_node
class Jump(Stmt):
    kind: str  # "pass" | "break" | "continue"


@ir_node
class Scoping(Stmt):
    kind: str  # "global" | "nonlocal"
    names: tuple[str, ...]


@ir_node
class Alias(Node):
    name: str  # dotted
    asname: str | None
    asname_start: int


@ir_node
class Import(Stmt):
    names: tuple[Alias, ...]


@ir_node
class ImportFrom(Stmt):
    module: str  # dotted, "" in `from . import x`
    level: int
    names: tuple[Alias, ...]  # one alias named "*" for a star import
    module_start: int


@ir_node
class If(Stmt):
    test: Expr
    body: Block
    orelse: Block


@ir_node
class For(Stmt):
    target: Expr
    iter: Expr
    body: Block
    orelse: Block
    is_async: bool


@ir_node
class While(Stmt):
    test: Expr
    body: Block
    orelse: Block


@ir_node
class WithItem(Node):
    value: Expr
    target: Expr | None


@ir_node
class With(Stmt):
    items: tuple[WithItem, ...]
    body: Block
    is_async: bool


@ir_node
class Handler(Node):
    type: Expr | None
    name: str | None
    body: Block


@ir_node
class Try(Stmt):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


@ir_node
class Case(Node):
    pattern: Expr  # the pattern read as an expression: values and captures
    captures: tuple[str, ...]
    guard: Expr | None
    body: Block


@ir_node
class Match(Stmt):
    subject: Expr
    cases: tuple[Case, ...]


@ir_node
class FunctionDef(Stmt):
    name: str
    name_start: int
    params: tuple[Param, ...]
    returns: Expr | None
    decorators: tuple[Expr, ...]
    body: Block
    is_async: bool


@ir_node
class ClassDef(Stmt):
    name: str
    name_start: int
    args: tuple[Arg, ...]
    decorators: tuple[Expr, ...]
    body: Block


@ir_node
class Module(Node):
    body: Block
    insert_at: int  # where a first import may be written: after docstring and `__future__`
    newline: str
    indent: str
