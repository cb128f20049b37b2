"""Expressions of the IR."""

from __future__ import annotations

from types import EllipsisType

from xlamig.ir.node import Node, ir_node


@ir_node
class Expr(Node):
    pass


@ir_node
class Name(Expr):
    id: str


@ir_node
class Attribute(Expr):
    value: Expr
    attr: str
    attr_start: int  # offset of the attribute's own name; it ends where the node ends


@ir_node
class Const(Expr):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis; joined strings as one."""

    value: str | bytes | complex | bool | EllipsisType | None


@ir_node
class FString(Expr):
    """An f-string: constant parts as `str`, replacement fields as expressions."""

    parts: tuple[str | Expr, ...]


@ir_node
class Arg(Node):
    """One argument of a call. `star` is "", "*" or "**"; `keyword` is None when positional.
    The span covers `keyword=value`; `cut_start:cut_end` also takes in one neighbouring comma,
    so that deleting it leaves a well-formed call."""

    keyword: str | None
    star: str
    value: Expr
    cut_start: int
    cut_end: int


@ir_node
class Call(Expr):
    func: Expr
    args: tuple[Arg, ...]
    args_start: int  # just after the opening parenthesis
    args_end: int  # at the closing parenthesis


@ir_node
class Subscript(Expr):
    value: Expr
    index: tuple[Expr, ...]


@ir_node
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@ir_node
class Unary(Expr):
    op: str
    operand: Expr


@ir_node
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@ir_node
class Bool(Expr):
    op: str  # "and" | "or"
    values: tuple[Expr, ...]


@ir_node
class Compare(Expr):
    left: Expr
    ops: tuple[str, ...]
    comparators: tuple[Expr, ...]


@ir_node
class IfExp(Expr):
    body: Expr
    test: Expr
    orelse: Expr


@ir_node
class Sequence(Expr):
    kind: str  # "tuple" | "list" | "set"
    elements: tuple[Expr, ...]


@ir_node
class Dict(Expr):
    keys: tuple[Expr | None, ...]  # None for `**mapping`
    values: tuple[Expr, ...]


@ir_node
class BigLiteral(Expr):
    """A display of constants too large to matter; only its size is kept."""

    kind: str
    size: int


@ir_node
class Starred(Expr):
    value: Expr


@ir_node
class Param(Node):
    name: str
    kind: str  # "" | "*" | "**" | "keyword-only" | "positional-only"
    annotation: Expr | None
    default: Expr | None


@ir_node
class Lambda(Expr):
    params: tuple[Param, ...]
    body: Expr


@ir_node
class Generator(Node):
    target: Expr
    iter: Expr
    ifs: tuple[Expr, ...]
    is_async: bool


@ir_node
class Comprehension(Expr):
    kind: str  # "list" | "set" | "dict" | "generator"
    element: Expr
    value: Expr | None  # of a dict comprehension
    generators: tuple[Generator, ...]


@ir_node
class Await(Expr):
    value: Expr


@ir_node
class Yield(Expr):
    value: Expr | None
    is_from: bool


@ir_node
class Walrus(Expr):
    target: Expr
    value: Expr
