"""The compact form of a Python module: what the analyser keeps once the LibCST tree is dropped.

Every node knows its span: offsets in code points of the decoded text, `end` exclusive, without
surrounding white space or redundant parentheses. Nodes are plain, picklable and never changed
after `syntax.build` made them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from types import EllipsisType
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False)
def _node(cls: type[T]) -> type[T]:
    """A slotted dataclass that pickles as (class, field values), half the size of the default."""
    made: type[Any] = dataclass(slots=True, eq=False)(cls)
    values: Callable[[Any], tuple[Any, ...]] = attrgetter(*(f.name for f in fields(made)))

    def reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
        return type(self), values(self)

    made.__reduce__ = reduce  # type: ignore[assignment]
    return made


@_node
class Node:
    start: int
    end: int


# ----------------------------------------------------------------------------- expressions


@_node
class Expr(Node):
    pass


@_node
class Name(Expr):
    id: str


@_node
class Attribute(Expr):
    value: Expr
    attr: str
    attr_start: int  # offset of the attribute's own name; it ends where the node ends


@_node
class Const(Expr):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis; joined strings as one."""

    value: str | bytes | complex | bool | EllipsisType | None


@_node
class FString(Expr):
    """An f-string: constant parts as `str`, replacement fields as expressions."""

    parts: tuple[str | Expr, ...]


@_node
class Arg(Node):
    """One argument of a call. `star` is "", "*" or "**"; `keyword` is None when positional.
    The span covers `keyword=value`; `cut_start:cut_end` also takes in one neighbouring comma,
    so that deleting it leaves a well-formed call."""

    keyword: str | None
    star: str
    value: Expr
    cut_start: int
    cut_end: int


@_node
class Call(Expr):
    func: Expr
    args: tuple[Arg, ...]
    args_start: int  # just after the opening parenthesis
    args_end: int  # at the closing parenthesis


@_node
class Subscript(Expr):
    value: Expr
    index: tuple[Expr, ...]


@_node
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@_node
class Unary(Expr):
    op: str
    operand: Expr


@_node
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@_node
class Bool(Expr):
    op: str  # "and" | "or"
    values: tuple[Expr, ...]


@_node
class Compare(Expr):
    left: Expr
    ops: tuple[str, ...]
    comparators: tuple[Expr, ...]


@_node
class IfExp(Expr):
    body: Expr
    test: Expr
    orelse: Expr


@_node
class Sequence(Expr):
    kind: str  # "tuple" | "list" | "set"
    elements: tuple[Expr, ...]


@_node
class Dict(Expr):
    keys: tuple[Expr | None, ...]  # None for `**mapping`
    values: tuple[Expr, ...]


@_node
class BigLiteral(Expr):
    """A display of constants too large to matter; only its size is kept."""

    kind: str
    size: int


@_node
class Starred(Expr):
    value: Expr


@_node
class Lambda(Expr):
    params: tuple[Param, ...]
    body: Expr


@_node
class Generator(Node):
    target: Expr
    iter: Expr
    ifs: tuple[Expr, ...]
    is_async: bool


@_node
class Comprehension(Expr):
    kind: str  # "list" | "set" | "dict" | "generator"
    element: Expr
    value: Expr | None  # of a dict comprehension
    generators: tuple[Generator, ...]


@_node
class Await(Expr):
    value: Expr


@_node
class Yield(Expr):
    value: Expr | None
    is_from: bool


@_node
class Walrus(Expr):
    target: Expr
    value: Expr


# ------------------------------------------------------------------------------ statements


@_node
class Stmt(Node):
    pass


Block = tuple[Stmt, ...]


@_node
class ExprStmt(Stmt):
    value: Expr


@_node
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr


@_node
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr


@_node
class AnnAssign(Stmt):
    target: Expr
    annotation: Expr
    value: Expr | None


@_node
class Return(Stmt):
    value: Expr | None


@_node
class Raise(Stmt):
    value: Expr | None
    cause: Expr | None


@_node
class Assert(Stmt):
    test: Expr
    message: Expr | None


@_node
class Delete(Stmt):
    targets: tuple[Expr, ...]


@_node
class Jump(Stmt):
    kind: str  # "pass" | "break" | "continue"


@_node
class Scoping(Stmt):
    kind: str  # "global" | "nonlocal"
    names: tuple[str, ...]


@_node
class Alias(Node):
    name: str  # dotted
    asname: str | None
    asname_start: int


@_node
class Import(Stmt):
    names: tuple[Alias, ...]


@_node
class ImportFrom(Stmt):
    module: str  # dotted, "" in `from . import x`
    level: int
    names: tuple[Alias, ...]  # one alias named "*" for a star import
    module_start: int


@_node
class If(Stmt):
    test: Expr
    body: Block
    orelse: Block


@_node
class For(Stmt):
    target: Expr
    iter: Expr
    body: Block
    orelse: Block
    is_async: bool


@_node
class While(Stmt):
    test: Expr
    body: Block
    orelse: Block


@_node
class WithItem(Node):
    value: Expr
    target: Expr | None


@_node
class With(Stmt):
    items: tuple[WithItem, ...]
    body: Block
    is_async: bool


@_node
class Handler(Node):
    type: Expr | None
    name: str | None
    body: Block


@_node
class Try(Stmt):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


@_node
class Case(Node):
    pattern: Expr  # the pattern read as an expression: values and captures
    captures: tuple[str, ...]
    guard: Expr | None
    body: Block


@_node
class Match(Stmt):
    subject: Expr
    cases: tuple[Case, ...]


@_node
class Param(Node):
    name: str
    kind: str  # "" | "*" | "**" | "keyword-only" | "positional-only"
    annotation: Expr | None
    default: Expr | None


@_node
class FunctionDef(Stmt):
    name: str
    name_start: int
    params: tuple[Param, ...]
    returns: Expr | None
    decorators: tuple[Expr, ...]
    body: Block
    is_async: bool


@_node
class ClassDef(Stmt):
    name: str
    name_start: int
    args: tuple[Arg, ...]
    decorators: tuple[Expr, ...]
    body: Block


@_node
class Module(Node):
    body: Block
    insert_at: int  # where a first import may be written: after docstring and `__future__`
    newline: str
    indent: str


_CONSTANT = "str | bytes | complex | bool | EllipsisType | None"
_PLAIN = frozenset({"int", "str", "str | None", "bool", "tuple[str, ...]", _CONSTANT})


class _Holders(dict[type["Node"], tuple[str, ...]]):
    """The fields of a kind of node that can hold nodes, the last one first."""

    def __missing__(self, kind: type[Node]) -> tuple[str, ...]:
        self[kind] = names = tuple(f.name for f in fields(kind) if f.type not in _PLAIN)[::-1]
        return names


_holders = _Holders()


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in field order."""
    for name in reversed(_holders[type(node)]):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first."""
    return _walk(node, Node)


def statements(node: Node) -> Iterator[Node]:
    """`node` and what is below it, but for expressions and what these hold."""
    return _walk(node, (Stmt, Handler, Case))


def _walk(node: Node, kinds: type[Node] | tuple[type[Node], ...]) -> Iterator[Node]:
    # Written out: most of a summary's time goes by here.
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for name in _holders[type(current)]:
            value = getattr(current, name)
            if isinstance(value, tuple):
                stack.extend([item for item in reversed(value) if isinstance(item, kinds)])
            elif isinstance(value, kinds):
                stack.append(value)


def docstring(function: FunctionDef) -> object:
    """The constant that is the function's first statement; None without one."""
    match function.body:
        case (ExprStmt(value=Const(value=text)), *_):
            return text
    return None
