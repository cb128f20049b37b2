"""Writes a call, or one of its arguments, anew around the text of its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.facts import ApiUse, Argument, Fact, Span
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import path_to

_ATOMS = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.Const)


def rewrite_call(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Options:

    source    the new text, with `{parameter}` for an argument's, `{receiver}` for the object whose method
              is called and `{torch}` for the module's name here
    argument  the one that is replaced instead of the whole call
    accepts   the only arguments the call may have
    names     those that stand more than once, and so have to be names or constants
    breaks    targets that lack what is written: not where they shall go on working
    method    what `argument` has to call
    """
    if not isinstance(fact, ApiUse) or not fact.complete or not _accepted(fact, options):
        return None
    argument = options.get("argument")
    settings = page.settings
    if {settings.target, *settings.keep_working_on} & set(options.get("breaks", ())):
        return None
    replaced = fact.argument(str(argument)) if argument is not None else None
    span = replaced.value_span if replaced else fact.parts.get("call")
    if span is None or (argument is not None and not _calls(replaced, options.get("method"), page)):
        return None
    if "#" in page.text(span):
        return None  # a comment would be lost
    names = options.get("names", ())
    texts = {a.name: _text(a.value_span, page, a.name in names) for a in fact.args}
    if receiver := fact.parts.get("receiver"):
        texts["receiver"] = _text(receiver, page, "receiver" in names)
    imports: tuple[Edit, ...] = ()
    if "{torch}" in str(options["source"]):
        torch = ensure_module(page, "torch", span)
        if torch is None:
            return None
        texts["torch"], imports = torch.name, torch.edits
    try:
        new = str(options["source"]).format_map(texts)
    except KeyError:
        return None  # it speaks of an argument that is not given
    if None in texts.values():
        return None
    return Draft(f"Use `{new}`", (*imports, page.edit(*span, new)))


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


def _text(span: Span, page: FixContext, named: bool) -> str | None:
    """What to write for an expression; None for one that is neither name nor constant and has to be."""
    text = page.text(span)
    node = path_to(page.module, *span)[-1]
    if isinstance(node, ir.Name | ir.Const) or (isinstance(node, _ATOMS) and not named):
        return text
    return None if named else f"({text})"
