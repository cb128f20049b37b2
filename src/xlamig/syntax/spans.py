"""Offsets of every node, from one pass of LibCST's own code generation.

Generating code visits the nodes in source order and emits every character, so counting what
would be emitted gives exact offsets at a fraction of what the metadata provider costs. The
result equals `libcst.metadata.PositionProvider`; a property test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import takewhile
from typing import Any, cast

import libcst
from libcst import SimpleWhitespace
from libcst._nodes.base import CSTNode
from libcst._nodes.expression import _BaseParenthesizedNode
from libcst._nodes.internal import CodegenState

from xlamig.syntax.errors import Unparsable

Spans = dict[int, tuple[int, int]]
"""id(node) -> (start, end); valid while the tree is alive."""


class _Syntactic:
    """The extent of a node without its own white space and parentheses."""

    __slots__ = ("counter", "end_node", "node", "start", "start_node")

    def __init__(
        self,
        counter: _OffsetCounter,
        node: libcst.CSTNode,
        start_node: libcst.CSTNode | None,
        end_node: libcst.CSTNode | None,
    ) -> None:
        self.counter = counter
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = self.counter.offset

    def __exit__(self, *exc: object) -> None:
        counter = self.counter
        spans = counter.spans
        start = self.start if self.start_node is None else spans[id(self.start_node)][0]
        end = counter.offset if self.end_node is None else spans[id(self.end_node)][1]
        spans[id(self.node)] = (start, end)


class _OffsetCounter:
    """Stands in for LibCST's CodegenState; keeps lengths, not tokens."""

    def __init__(self, module: libcst.Module) -> None:
        self.default_indent = module.default_indent
        self.default_newline = module.default_newline
        self.offset = 0
        self.spans: Spans = {}
        self.tokens: list[str] = ["any"]  # Module only asks whether there are some
        self._indents: list[int] = []
        self._indent = 0
        self._last = 0

    def increase_indent(self, value: str) -> None:
        self._indents.append(len(value))
        self._indent += len(value)

    def decrease_indent(self) -> None:
        self._indent -= self._indents.pop()

    def add_indent_tokens(self) -> None:
        self.offset += self._indent

    def add_token(self, value: str) -> None:
        self._last = len(value)
        self.offset += self._last

    def pop_trailing_newline(self) -> None:
        self.offset -= self._last
        self._last = 0

    def record_syntactic_position(
        self,
        node: libcst.CSTNode,
        *,
        start_node: libcst.CSTNode | None = None,
        end_node: libcst.CSTNode | None = None,
    ) -> AbstractContextManager[None]:
        return _Syntactic(self, node, start_node, end_node)


_generic_codegen = CSTNode._codegen
_generic_parenthesize = _BaseParenthesizedNode._parenthesize


def _codegen(self: CSTNode, state: Any, **kwargs: Any) -> None:
    """`before_codegen` and `after_codegen` in one: this runs once per node of every file."""
    start = state.offset
    self._codegen_impl(state, **kwargs)
    key = id(self)
    if key not in state.spans:
        state.spans[key] = (start, state.offset)


def _codegen_blank(self: SimpleWhitespace, state: Any) -> None:
    """White space is a third of all nodes, and nobody asks for its place."""
    state.offset += len(self.value)


def _codegen_leaf(self: Any, state: Any) -> None:
    """A name, number or string is its value, and most of what is left."""
    if self.lpar:
        _codegen(self, state)
        return
    start = state.offset
    state.offset = end = start + len(self.value)
    state.spans[id(self)] = (start, end)


def _codegen_mark(self: Any, state: Any, **kwargs: Any) -> None:
    """A dot, comma or equals sign is one character."""
    self.whitespace_before._codegen(state)
    start = state.offset
    state.offset = end = start + 1
    state.spans[id(self)] = (start, end)
    self.whitespace_after._codegen(state)


def _codegen_newline(self: libcst.Newline, state: Any) -> None:
    """Nobody asks for the place of a newline, or of the blank before it."""
    state.add_token(self.value or state.default_newline)


def _codegen_trailing(self: libcst.TrailingWhitespace, state: Any) -> None:
    state.offset += len(self.whitespace.value)
    if self.comment is not None:
        self.comment._codegen(state)
    _codegen_newline(self.newline, state)


def _codegen_attribute(self: libcst.Attribute, state: Any) -> None:
    if self.lpar:
        _codegen(self, state)
        return
    start = state.offset
    self.value._codegen(state)
    self.dot._codegen(state)
    self.attr._codegen(state)
    state.spans[id(self)] = (start, state.offset)


def _codegen_call(self: libcst.Call, state: Any) -> None:
    if self.lpar:
        _codegen(self, state)
        return
    start = state.offset
    self.func._codegen(state)
    self.whitespace_after_func._codegen(state)
    state.offset += 1
    self.whitespace_before_args._codegen(state)
    for arg in self.args:
        arg._codegen(state)
    state.offset += 1
    state.spans[id(self)] = (start, state.offset)


def _codegen_arg(self: Any, state: Any, **kwargs: Any) -> None:
    start = state.offset
    state.offset += len(self.star)
    self.whitespace_after_star._codegen(state)
    if self.keyword is not None:
        self.keyword._codegen(state)
        self.equal._codegen(state)
    self.value._codegen(state)
    state.spans[id(self)] = (start, state.offset)
    if isinstance(self.comma, libcst.Comma):
        self.comma._codegen(state)
    self.whitespace_after_arg._codegen(state)


def _parenthesize(self: _BaseParenthesizedNode, state: CodegenState) -> AbstractContextManager[None]:
    """Nearly every expression has no parentheses: spare those the generator."""
    if self.lpar:
        return _generic_parenthesize(self, state)
    return state.record_syntactic_position(self)


_CHEAP: dict[type[CSTNode], Callable[..., None]] = {
    SimpleWhitespace: _codegen_blank,
    **dict.fromkeys((libcst.Dot, libcst.Comma, libcst.AssignEqual), _codegen_mark),
    libcst.Newline: _codegen_newline,
    libcst.TrailingWhitespace: _codegen_trailing,
    libcst.Attribute: _codegen_attribute,
    libcst.Call: _codegen_call,
    libcst.Arg: _codegen_arg,
    **dict.fromkeys((libcst.Name, libcst.Integer, libcst.Float, libcst.SimpleString), _codegen_leaf),
}


@contextmanager
def _short_cuts() -> Iterator[None]:
    CSTNode._codegen = _codegen  # type: ignore[method-assign]
    for kind, codegen in _CHEAP.items():
        kind._codegen = codegen  # type: ignore[method-assign]
    _BaseParenthesizedNode._parenthesize = _parenthesize  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        CSTNode._codegen = _generic_codegen  # type: ignore[method-assign]
        for kind in _CHEAP:
            del kind._codegen
        _BaseParenthesizedNode._parenthesize = _generic_parenthesize  # type: ignore[method-assign]


def record_spans(tree: libcst.Module, text: str) -> Spans:
    """The syntactic extent of every node of `tree` in `text`.

    Raises:
        Unparsable: the tree does not generate `text`, so no place could be trusted.
    """
    counter = _OffsetCounter(tree)
    with _short_cuts():
        tree._codegen(cast(CodegenState, counter))
    # LibCST reads a missing last newline as one it need not print.
    if counter.offset != len(text) and not _differs_in_blank_end(tree, text):
        raise Unparsable("the parsed tree does not reproduce the source", 1, 1)
    return counter.spans


def _differs_in_blank_end(tree: libcst.Module, text: str) -> bool:
    """Return whether the tree lacks nothing but blank lines after the last statement: LibCST drops those
    before an indented comment, and one without a newline at the very end."""
    both = zip(tree.code.splitlines(), text.splitlines(), strict=False)
    same = sum(1 for _ in takewhile(lambda lines: lines[0] == lines[1], both))
    rest = (line.strip() for line in text.splitlines()[same:])
    return all(not line or line.startswith("#") for line in rest)
