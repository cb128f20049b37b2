"""Masks that select one element of each row, at a position."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of

_COLUMN = re.compile(
    r"\.unsqueeze\((?:dim=)?(?:1|-1)\)|\.(?:view|reshape)\([^()]*,\s*1\)|\[(?::|\.\.\.),\s*None\]"
)
_SAME = frozenset({"expand", "expand_as", "repeat", "to", "type_as", "unsqueeze", "view", "long", "cuda"})
_DEPTH = 3  # names that stand for one another


def position_in_rows(m: State, mask: ir.Expr) -> dict[str, str]:
    """Return the proof "position" of a mask that selects the element of each row at a position, a column of
    numbers: `lengths[:, None] - 1` of `torch.arange(n) == lengths[:, None] - 1`. As many are selected each
    time as there are rows."""
    match _value(m, mask):
        case ir.Compare(left=left, ops=("==",), comparators=(right,)):
            for counted, other in ((left, right), (right, left)):
                text = m.source(other)
                if _is_arange(m, counted) and not _is_arange(m, other) and _COLUMN.search(text):
                    return {"position": short(text)}
    return {}


def _is_arange(m: State, node: ir.Expr) -> bool:
    """Return whether an expression is `torch.arange(n)`, also with more dimensions or on another device."""
    node = _value(m, node)
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr=name)) if name in _SAME:
            return _is_arange(m, owner)
        case ir.Subscript(value=value):
            return _is_arange(m, value)
        case ir.Call(func=func, args=(_, *_)):
            return path_of(func).rpartition(".")[2] == "arange"
    return False


def _value(m: State, node: ir.Expr, depth: int = _DEPTH) -> ir.Expr:
    """Return what the only assignment to a name gives it; other expressions as they are."""
    bound = m.frame.scope.bindings.get(node.id, []) if isinstance(node, ir.Name) and depth else []
    value = bound[0].value if len(bound) == 1 and bound[0].kind == "value" else None
    return node if value is None else _value(m, value, depth - 1)
