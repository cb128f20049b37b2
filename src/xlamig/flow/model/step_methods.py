"""Methods that users call in every step, though nothing in sight does."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def runs_each_step(node: ir.FunctionDef) -> bool:
    """Return whether a method called `step` takes a tensor, or counts how often it ran."""
    for param in node.params[1:]:
        if param.annotation is not None and any(map(_is_tensor_type, ir.walk(param.annotation))):
            return True
    counted = (s for s in node.body if isinstance(s, ir.AugAssign) and path_of(s.target).startswith("self."))
    return len(node.params) > 1 and any(isinstance(s.value, ir.Const) for s in counted)


def _is_tensor_type(node: ir.Node) -> bool:
    named = path_of(node) if isinstance(node, ir.Name | ir.Attribute) else ""
    return table.name_like("tensor-annotation").search(named) is not None
