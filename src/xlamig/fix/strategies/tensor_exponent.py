"""`x ** n` becomes `x ** torch.tensor(n, ...)`: the exponent is then an input of the graph."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingConstant, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import path_to
from xlamig.fix.strategies.index_select import is_plain

_REPEATABLE = (ir.Name, ir.Attribute, ir.Const, ir.Binary, ir.Unary)


def tensor_exponent(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Make the exponent a tensor with the dtype of the result; the base must be a name."""
    if not isinstance(fact, ChangingConstant) or fact.operation != "**":
        return None
    match path_to(context.module, *fact.span)[-1]:
        case ir.Binary(op="**", left=base, right=number):
            pass
        case ir.AugAssign(target=base, op="**" | "**=", value=number):
            pass
        case _:
            return None
    torch = ensure_module(context, "torch", fact.span)
    exponent, tensor = context.text_of(number), context.text_of(base)
    repeated = isinstance(number, ir.Name | ir.Attribute | ir.Binary | ir.Unary) and is_plain(base)
    if (
        torch is None
        or not repeated
        or "#" in exponent
        or any(isinstance(n, ir.Call) for n in ir.walk(number))
    ):
        return None
    dtype = f"{torch.name}.result_type({tensor}, {exponent})"
    new = f"{torch.name}.tensor({exponent}, dtype={dtype}, device={tensor}.device)"
    return Draft(f"Use `{new}`", (*torch.edits, context.edit(number.start, number.end, new)))
