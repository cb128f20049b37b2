"""Copies between the host and the device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, HostRead, Transfer
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import path_to

_ATOMS = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.Const)


def copy_from_device(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`dst.copy_(src)` becomes `dst.copy_(src.to(dst.device))`; `dst` is a name."""
    if not isinstance(fact, Transfer) or fact.via != "copy":
        return None
    calls = [n for n in path_to(context.module, *fact.span) if isinstance(n, ir.Call)]
    for call in reversed(calls):
        match call:
            case ir.Call(
                func=ir.Attribute(value=ir.Name() | ir.Attribute() as owner, attr="copy_"), args=(first, *_)
            ):
                source = first.value
                if first.keyword not in (None, "src") or first.star:
                    return None
                old = context.text_of(source)
                target = context.text_of(owner)
                new = f"{old if isinstance(source, _ATOMS) else f'({old})'}.to({target}.device)"
                return Draft(f"Use `{new}`", (context.edit(source.start, source.end, new),))
    return None


def copy_to_host(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`x` becomes `x.cpu()`, which returns a tensor on the CPU unchanged."""
    if not isinstance(fact, HostRead) or fact.via != "array":
        return None
    value = path_to(context.module, *fact.span)[-1]
    if (value.start, value.end) != fact.span or not isinstance(value, ir.Expr):
        return None
    text = context.text(fact.span)
    new = f"{text if isinstance(value, _ATOMS) else f'({text})'}.cpu()"
    return Draft(f"Use `{new}`", (context.edit(*fact.span, new),))
