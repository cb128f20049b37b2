"""Moves a tensor that was left on the host: where its name gets it, or where it is passed."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, Transfer
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import device_expression
from xlamig.fix.imports import insert_beside
from xlamig.fix.insertion import insert_after
from xlamig.fix.scopes import bindings, path_to

_ATOMS = (ir.Name, ir.Attribute, ir.Call, ir.Subscript)
_FORMS = {
    "": "{0}.to({1})",
    "sequence": "tuple(x.to({1}) for x in {0})",
    "mapping": '{{k: v.to({1}) if hasattr(v, "to") else v for k, v in {0}.items()}}',
}


def move_to_device(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The one loop or assignment that binds the name is followed by the move; elsewhere the argument itself
    is moved. A container of tensors is only moved where its name is bound."""
    if not isinstance(fact, Transfer) or fact.via != "missing":
        return None
    path = path_to(context.module, *fact.span)
    value = path[-1]
    if (value.start, value.end) != fact.span or not isinstance(value, ir.Expr):
        return None
    if _is_moved(value, path, context):
        return None  # an earlier fix did, and the files that call this one have not been analysed since
    device = device_expression(context, fact, fact.span)
    if device is None:
        return None
    text = context.text(fact.span)
    holds = _form(fact, value, path, context)
    edit = None
    if isinstance(value, ir.Name):
        moved = _FORMS[holds].format(text, device.text)
        edit = _where_bound(f"{text} = {moved}", value, path, context)
    if edit is None:
        if holds:
            raise FixDeclined(f"`{text}` holds tensors, and has several values")
        if _is_written(value, path):
            raise FixDeclined(f"`{text}` is written there, and a move would write into a copy")
        text = text if isinstance(value, _ATOMS) else f"({text})"
        edit = context.edit(*fact.span, _FORMS[""].format(text, device.text))
    return Draft(f"Move `{fact.tensor}` to the device", (*device.edits, edit), device.creates)


def _form(fact: Transfer, value: ir.Expr, path: list[ir.Node], context: FixContext) -> str:
    """Return what holds the tensors; of what may hold them or be one, as its name is used."""
    if fact.holds != "any" or not isinstance(value, ir.Name):
        return "" if fact.holds == "any" else fact.holds
    for node in ir.walk(_scope(value, path, context)):
        match node:
            case ir.Subscript(value=ir.Name(id=name), index=(ir.Const(value=key),)) if name == value.id:
                return "mapping" if isinstance(key, str) else "sequence"
            case ir.Assign(targets=(ir.Sequence(),), value=ir.Name(id=name)) if name == value.id:
                return "sequence"
    if "." in fact.operation:
        raise FixDeclined(f"`{value.id}` may be a tensor, or hold some")
    return ""


def _is_moved(value: ir.Expr, path: list[ir.Node], context: FixContext) -> bool:
    """Return whether a method moves the value here, or an assignment moves its name."""
    around = path[-2] if len(path) > 1 else None
    if isinstance(around, ir.Attribute) and around.attr == "to":
        return True
    bound = bindings(_scope(value, path, context), value.id) if isinstance(value, ir.Name) else []
    moves = [n for n in bound if isinstance(n, ir.Assign) and ".to(" in context.text_of(n.value)]
    return any(_given_alone(n, context) is None for n in moves)


def _is_written(value: ir.Expr, path: list[ir.Node]) -> bool:
    """Return whether the statement writes into the tensor: at an index, or by a method such as `add_`."""
    inner: ir.Node = value
    for node in reversed(path[:-1]):
        match node:
            case ir.Subscript(value=base) | ir.Attribute(value=base) if base is inner:
                if isinstance(node, ir.Attribute) and node.attr.endswith("_"):
                    return True
            case ir.Call(func=func) if func is inner:
                pass  # a view, perhaps
            case ir.Assign(targets=targets):
                return any(target is inner for target in targets)
            case ir.AugAssign(target=target):
                return target is inner
            case _:
                return False
        inner = node
    return False


def _given_alone(statement: ir.Stmt, context: FixContext) -> ir.If | None:
    """Return the `if gpu is not None:` without an `else` that a statement stands in."""
    around = path_to(context.module, statement.start, statement.end)[-2:]
    match around:
        case [
            ir.If(test=ir.Compare(ops=("is not",), comparators=(ir.Const(value=None),)), orelse=()) as test,
            _,
        ]:
            return test
    return None


def _scope(name: ir.Name, path: list[ir.Node], context: FixContext) -> ir.Node:
    """Return the innermost loop that binds the name at its head, or the function."""
    for node in reversed(path):
        if isinstance(node, ir.FunctionDef):
            return node
        if isinstance(node, ir.For) and any(bound is node for bound in bindings(node, name.id)):
            return node
    return context.module


def _where_bound(line: str, name: ir.Name, path: list[ir.Node], context: FixContext) -> Edit | None:
    """Return the edit that writes the line below what binds the name; None where it has several values."""
    match bindings(_scope(name, path, context), name.id):
        case [ir.For(body=body)]:
            return insert_beside(context, line, body[0])
        case [ir.Assign() as statement] if statement.end <= name.start:
            return insert_after(context, statement, [line])
        case [*_, ir.Assign() as last] if (test := _given_alone(last, context)) and test.end <= name.start:
            return insert_after(context, test, ["else:", f"{context.module.indent}{line}"])
    return None
