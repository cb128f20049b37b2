"""Packed sequences that no recurrent module gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_ROWS, _UNPACKED, _OTHER = "rows", "unpacked", "other"
_HOME = "torch.nn.utils.rnn."


def packed_use(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "rows" where a program takes only the rows of what it packs, `pack(x, lengths).data`, and
    "unpacked" where it only unpacks that again."""
    if not name.startswith(f"{_HOME}pack_"):
        return {}
    root = place.scope.node or analysis.module
    found = set(_uses(node, root, place, analysis))
    if not found or _OTHER in found:
        return {}
    return {_UNPACKED if _UNPACKED in found else _ROWS: "true"}


def _uses(node: ir.Expr, root: ir.Node, place: CodeContext, analysis: Analysis) -> Iterator[str]:
    """Yield how a program uses a packed sequence, also by the name that it gives it."""
    above = [*ir.path_down(root, node)]
    match above[-1]:
        case ir.Attribute(attr="data") | ir.Subscript(index=(ir.Const(value=0),)):
            yield _ROWS
        case ir.Arg() if _takes_packed(above[-2], above[-1], place, analysis):
            yield _UNPACKED
        case ir.Assign(targets=(ir.Sequence(elements=(_, *_)),)):  # `rows, _ = pack(x, lengths)`
            yield _ROWS
        case ir.Assign(targets=(ir.Name(id=name),), value=value) if value is node:
            for use in _later(name, above[-1], above[:-1]):
                yield from _uses(use, root, place, analysis)
        case _:
            yield _OTHER


def _takes_packed(call: ir.Node, arg: ir.Node, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether a call is one of torch's functions for packed sequences."""
    if not isinstance(call, ir.Call) or call.args[0] is not arg:
        return False
    return (analysis.names.dotted(call.func, place.scope) or "").startswith(_HOME)


def _later(name: str, made: ir.Node, around: list[ir.Node]) -> Iterator[ir.Name]:
    """Yield the uses of a name below the statement that sets it, up to the next such one of its block."""
    rest = [s for s in ir.children(around[-1]) if isinstance(s, ir.Stmt) and s.start > made.start]
    last = next((s.end for s in rest if isinstance(s, ir.Assign) and name in map(path_of, s.targets)), None)
    targets = {id(t) for s in rest if isinstance(s, ir.Assign) for t in s.targets}
    for part in ir.walk(around[0]):
        used = isinstance(part, ir.Name) and part.id == name and id(part) not in targets
        if used and part.start > made.end and (last is None or part.start < last):
            assert isinstance(part, ir.Name)
            yield part
