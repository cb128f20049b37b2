"""Type comments of functions: `# type: (Tensor, int) -> Tensor` below the head annotates the parameters."""

from __future__ import annotations

import re
from collections.abc import Callable

from xlamig import ir
from xlamig.syntax.errors import Unparsable

_COMMENT = re.compile(r":[ \t]*\n?(?:[ \t]*#[^\n]*\n)*?[ \t]*#[ \t]*type:[ \t]*\((?P<types>.*)\)[ \t]*->")
_OWN = ("self", "cls")


def annotate(params: tuple[ir.Param, ...], head: str, parse: Callable[[str], ir.Module]) -> None:
    """Give parameters the types of a comment that follows the head of a function, if none of them has one.
    A type has no place of its own: it stands at the end of its parameter."""
    found = _COMMENT.search(head) if "# type:" in head else None
    if found is None or any(param.annotation is not None for param in params):
        return
    types = _types(found["types"], parse)
    if len(types) == len(params) - 1 and params[0].name in _OWN:
        params = params[1:]
    if len(types) == len(params):
        for param, written in zip(params, types, strict=True):
            ir.place(written, param.end)
            param.annotation = written


def _types(text: str, parse: Callable[[str], ir.Module]) -> tuple[ir.Expr, ...]:
    """Return the types of a comment; none of one that is no valid list of them, or whose names an edit of the
    code may want to change."""
    if "cuda" in text:
        return ()
    try:
        body = parse(f"({text},)").body
    except Unparsable:
        return ()
    match body:
        case [ir.ExprStmt(value=ir.Sequence(elements=elements))]:
            return elements
    return ()
