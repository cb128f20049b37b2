"""Names for texts that a class holds: `Kind.GPU` of `class Kind(str, Enum): GPU = "cuda"`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of

_ENUMERATIONS = frozenset({"Enum", "StrEnum"})


def class_constant(node: ir.Expr, scope: Scope) -> tuple[ir.Const, bool] | None:
    """Return the text behind a name in a class of the module, and whether nothing may change it; None for
    anything else."""
    match _bound(node, scope):
        case ir.Const(value=str()) as text, bases:
            return text, not bases.isdisjoint(_ENUMERATIONS)
    return None


def member_text(node: ir.Expr, scope: Scope) -> str | None:
    """Return the text that stands for a member of an enumeration of the module: its own, or its name where
    it equals nothing but itself; None for anything else."""
    match _bound(node, scope):
        case ir.Const(value=str(text)), bases if not bases.isdisjoint(_ENUMERATIONS):
            return text
        case _, bases if bases == {"Enum"}:
            return path_of(node)
    return None


def _bound(node: ir.Expr, scope: Scope) -> tuple[ir.Expr, frozenset[str]] | None:
    """Return what a class of the module binds once, by the only name for it, and the names of its bases."""
    holder, _, name = path_of(node).partition(".")
    held = scope.lookup(holder) if name and "." not in name else []
    if len(held) != 1 or held[0].inner is None or not isinstance(held[0].node, ir.ClassDef):
        return None
    bound = held[0].inner.bindings.get(name, [])
    value = bound[0].value if len(bound) == 1 else None
    bases = frozenset(path_of(base.value).rpartition(".")[2] for base in held[0].node.args)
    return (value, bases) if value is not None else None


def is_member(node: ir.Node, scope: Scope) -> bool:
    """Return whether a node names a member of an enumeration of the module."""
    held = class_constant(node, scope) if isinstance(node, ir.Attribute) else None
    return held is not None and held[1]
