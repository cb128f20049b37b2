"""Objects that a `try` asks for a method which they may lack: its handler gets those that have none."""

from __future__ import annotations

from xlamig import ir


def without_method(node: ir.Try, handler: ir.Handler) -> str:
    """Return the name of the object that has no such method where a handler runs, of `try: x =
    x.to(device)` with `except AttributeError`; "" for others. No tensor gets there."""
    if not isinstance(handler.type, ir.Name) or handler.type.id != "AttributeError" or len(node.body) != 1:
        return ""
    match node.body[0]:
        case (
            ir.Assign(value=ir.Call(func=ir.Attribute(value=ir.Name(id=name)), args=args))
            | ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=ir.Name(id=name)), args=args))
            | ir.Return(value=ir.Call(func=ir.Attribute(value=ir.Name(id=name)), args=args))
        ) if not any(isinstance(part, ir.Call) for arg in args for part in ir.walk(arg.value)):
            return name
    return ""
