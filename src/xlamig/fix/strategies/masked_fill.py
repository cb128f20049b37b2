"""`x[x < 0] = 0` becomes `x.masked_fill_(x < 0, 0)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import bindings, statement_at
from xlamig.fix.strategies.index_select import is_plain

_REPEATABLE = (ir.Name, ir.Attribute, ir.Const, ir.Compare, ir.Unary, ir.Binary)
_CHECKS = frozenset({"isnan", "isinf", "isfinite", "isneginf", "isposinf"})
_NUMBERS = ("inf", "nan", "min", "max", "eps", "tiny")


def masked_fill(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """A mask that is computed from the very tensor it is used on has its shape: one of another would not
    index it; so has one that has as many dimensions. Any other may be one of rows, and gets those that it
    lacks."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-write":
        return None
    statement = statement_at(context.module, fact.span)
    match statement:
        case ir.Assign(
            targets=(ir.Subscript(value=ir.Name() | ir.Attribute() as owner, index=(mask,)),), value=value
        ):
            tensor = context.text_of(owner)
        case _:
            return None
    known = "number" in fact.proofs and is_plain(value)
    if not (known or _is_number(value, context)) or "#" in context.text_of(statement):
        return None
    shaped: str | None = context.text_of(mask)
    if fact.proofs.get("fitting") != shaped and not _is_mask_of(tensor, mask, context):
        shaped = with_dimensions_of(owner, mask, context)
    if shaped is None:
        return None
    new = f"{tensor}.masked_fill_({shaped}, {context.text_of(value)})"
    return Draft(f"Use `{new}`", (context.edit(statement.start, statement.end, new),))


def with_dimensions_of(tensor: ir.Expr, mask: ir.Expr, context: FixContext) -> str | None:
    """The mask with as many dimensions as the tensor that it indexes; None if it is more than may be
    computed twice."""
    if not is_plain(tensor) or not all(isinstance(n, _REPEATABLE) for n in ir.walk(mask)):
        return None
    x, m = context.text_of(tensor), context.text_of(mask)
    m = m if isinstance(mask, ir.Name | ir.Attribute) else f"({m})"
    return f"{m}.view({m}.shape + (1,) * ({x}.dim() - {m}.dim()))"


def _is_mask_of(tensor: str, mask: ir.Expr, context: FixContext) -> bool:
    def is_tensor(node: ir.Expr) -> bool:
        return context.text_of(node) == tensor

    match mask:
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            return op in ("<", "<=", ">", ">=", "==", "!=") and (is_tensor(left) or is_tensor(right))
        case ir.Unary(op="~", operand=operand):
            return _is_mask_of(tensor, operand, context)
        case ir.Binary(op="&" | "|", left=left, right=right):
            return _is_mask_of(tensor, left, context) and _is_mask_of(tensor, right, context)
        case ir.Call(func=ir.Attribute(value=owner, attr=attr), args=args) if attr in _CHECKS:
            return is_tensor(owner) if not args else len(args) == 1 and is_tensor(args[0].value)
    return False


def _is_number(node: ir.Expr, context: FixContext) -> bool:
    """Also a name that is set once, to a number."""
    match node:
        case ir.Const(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ir.Unary(op="-", operand=operand):
            return _is_number(operand, context)
        case ir.Call(func=ir.Name(id="float"), args=(ir.Arg(value=ir.Const(value=str())),)):
            return True
        case ir.Attribute(attr=attr):
            return attr in _NUMBERS
        case ir.Name(id=name):
            bound = bindings(context.module, name)
            return len(bound) == 1 and isinstance(bound[0], ir.Assign) and _is_number(bound[0].value, context)
    return False
