"""Writes a call, or one of its arguments, anew around the text of its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.facts import ApiUse, Argument, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import path_to

_ATOMS = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.Const)


def rewrite_call(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Options `source`, the new text, with `{parameter}` for an argument's; `argument`, the one that
    is replaced instead of the whole call; `accepts`, the only arguments the call may have; `names`,
    those that stand more than once and so have to be names; `method`, what `argument` has to call."""
    if not isinstance(fact, ApiUse) or not fact.complete or not _accepted(fact, options):
        return None
    argument = options.get("argument")
    replaced = fact.argument(str(argument)) if argument is not None else None
    span = replaced.value_span if replaced else fact.parts.get("call")
    if span is None or (argument is not None and not _calls(replaced, options.get("method"), page)):
        return None
    if "#" in page.text(span):
        return None  # a comment would be lost
    names = options.get("names", ())
    texts = {a.name: _text(a, page, a.name in names) for a in fact.args}
    try:
        new = str(options["source"]).format_map(texts)
    except KeyError:
        return None  # it speaks of an argument that is not given
    if None in texts.values():
        return None
    return Draft(f"Use `{new}`", (page.edit(*span, new),))


def _accepted(fact: ApiUse, options: Options) -> bool:
    accepts: Iterable[str] | None = options.get("accepts")
    return accepts is None or {a.name for a in fact.args} <= set(accepts)


def _calls(argument: Argument | None, method: object, page: FixContext) -> bool:
    if argument is None:
        return False
    node = path_to(page.module, *argument.value_span)[-1]
    return method is None or (
        isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == method
    )


def _text(argument: Argument, page: FixContext, named: bool) -> str | None:
    """What to write for an argument; None for one that is no name and has to be."""
    text = page.text(argument.value_span)
    node = path_to(page.module, *argument.value_span)[-1]
    if isinstance(node, ir.Name) or (isinstance(node, _ATOMS) and not named):
        return text
    return None if named else f"({text})"
