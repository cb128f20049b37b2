"""`x[x < 0] = 0` becomes `x.masked_fill_(x < 0, 0)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import statement_at

_CHECKS = frozenset({"isnan", "isinf", "isfinite", "isneginf", "isposinf"})
_NUMBERS = ("inf", "nan", "min", "max", "eps", "tiny")


def masked_fill(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Where the mask is computed from the very tensor it is used on: one of another shape would not
    index it, so their shapes are equal."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-write":
        return None
    statement = statement_at(page.module, fact.span)
    match statement:
        case ir.Assign(
            targets=(ir.Subscript(value=ir.Name() | ir.Attribute() as owner, index=(mask,)),), value=value
        ):
            tensor = page.text((owner.start, owner.end))
        case _:
            return None
    if (
        not _is_mask_of(tensor, mask, page)
        or not _is_number(value)
        or "#" in page.text((statement.start, statement.end))
    ):
        return None
    new = f"{tensor}.masked_fill_({page.text((mask.start, mask.end))}, {page.text((value.start, value.end))})"
    return Draft(f"Use `{new}`", (page.edit(statement.start, statement.end, new),))


def _is_mask_of(tensor: str, mask: ir.Expr, page: FixContext) -> bool:
    def is_tensor(node: ir.Expr) -> bool:
        return page.text((node.start, node.end)) == tensor

    match mask:
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            return op in ("<", "<=", ">", ">=", "==", "!=") and (is_tensor(left) or is_tensor(right))
        case ir.Unary(op="~", operand=operand):
            return _is_mask_of(tensor, operand, page)
        case ir.Binary(op="&" | "|", left=left, right=right):
            return _is_mask_of(tensor, left, page) and _is_mask_of(tensor, right, page)
        case ir.Call(func=ir.Attribute(value=owner, attr=attr), args=args) if attr in _CHECKS:
            return is_tensor(owner) if not args else len(args) == 1 and is_tensor(args[0].value)
    return False


def _is_number(node: ir.Expr) -> bool:
    match node:
        case ir.Const(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ir.Unary(op="-", operand=operand):
            return _is_number(operand)
        case ir.Call(func=ir.Name(id="float"), args=(ir.Arg(value=ir.Const(value=str())),)):
            return True
        case ir.Attribute(attr=attr):
            return attr in _NUMBERS
    return False
