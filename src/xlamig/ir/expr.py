"""Expressions of the IR."""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType

from xlamig.ir.node import Node

Constant = str | bytes | int | float | complex | bool | EllipsisType | None
"""The value of a literal."""


@dataclass(slots=True, eq=False)
class Expr(Node):
    pass


@dataclass(slots=True, eq=False)
class Name(Expr):
    id: str


@dataclass(slots=True, eq=False)
class Attribute(Expr):
    value: Expr
    attr: str
    attr_start: int  # offset of the attribute's own name; it ends where the node ends


@dataclass(slots=True, eq=False)
class Const(Expr):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis; joined strings as one."""

    value: Constant


@dataclass(slots=True, eq=False)
class FString(Expr):
    """An f-string: constant parts as `str`, replacement fields as expressions."""

    parts: tuple[str | Expr, ...]


@dataclass(slots=True, eq=False)
class Arg(Node):
    """One argument of a call. `star` is "", "*" or "**"; `keyword` is None when positional.
    The span covers `keyword=value`; `cut_start:cut_end` also takes in one neighbouring comma,
    so that deleting it leaves a well-formed call."""

    keyword: str | None
    star: str
    value: Expr
    cut_start: int
    cut_end: int


@dataclass(slots=True, eq=False)
class Call(Expr):
    func: Expr
    args: tuple[Arg, ...]
    args_start: int  # just after the opening parenthesis
    args_end: int  # at the closing parenthesis


@dataclass(slots=True, eq=False)
class Subscript(Expr):
    value: Expr
    index: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Unary(Expr):
    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Bool(Expr):
    op: str  # "and" | "or"
    values: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Compare(Expr):
    left: Expr
    ops: tuple[str, ...]
    comparators: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class IfExp(Expr):
    body: Expr
    test: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Sequence(Expr):
    kind: str  # "tuple" | "list" | "set"
    elements: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Dict(Expr):
    keys: tuple[Expr | None, ...]  # None for `**mapping`
    values: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class BigLiteral(Expr):
    """A display of constants too large to matter; only its size is kept."""

    kind: str
    size: int


@dataclass(slots=True, eq=False)
class Starred(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Param(Node):
    name: str
    kind: str  # "" | "*" | "**" | "keyword-only" | "positional-only"
    annotation: Expr | None
    default: Expr | None


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    params: tuple[Param, ...]
    body: Expr


@dataclass(slots=True, eq=False)
class Generator(Node):
    target: Expr
    iter: Expr
    ifs: tuple[Expr, ...]
    is_async: bool


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    kind: str  # "list" | "set" | "dict" | "generator"
    element: Expr
    value: Expr | None  # of a dict comprehension
    generators: tuple[Generator, ...]


@dataclass(slots=True, eq=False)
class Await(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Yield(Expr):
    value: Expr | None
    is_from: bool


@dataclass(slots=True, eq=False)
class Walrus(Expr):
    target: Expr
    value: Expr
