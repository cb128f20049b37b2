"""Rewrites a call, or one of its arguments, around the text of its arguments."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import path_to
from xlamig.fix.strategies.index_select import is_plain
from xlamig.fix.template import fill
from xlamig.knowledge import signatures

_ATOMS = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.Const)


def rewrite_call(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options:

    source    the new text, a template (see fix/template.py), with `{parameter}` for an argument's,
              `{receiver}` for the object whose method is called and `{callee}` for what is called
    argument  the one that is replaced instead of the whole call
    accepts   the only arguments the call may have
    names     those that stand more than once, and so have to be constants, names or their attributes
    signature the parameters of a call that is no API's, in order
    breaks    targets that lack what is written: not where they shall go on working
    method    what `argument` has to call
    """
    found = _call_and_arguments(fact, options, context)
    settings = context.settings
    if found is None or {settings.target, *settings.keep_working_on} & set(options.get("breaks", ())):
        return None
    call, arguments = found
    accepts, replaced = options.get("accepts"), options.get("argument")
    if accepts is not None and not arguments.keys() - {"receiver"} <= set(accepts):
        return None
    span = call if replaced is None else arguments.get(str(replaced))
    if span is None or (replaced is not None and not _calls(span, options.get("method"), context)):
        return None
    if "#" in context.text(span):
        return None  # a comment would be lost
    names = options.get("names", ())
    texts = {name: _text(place, context, name in names) for name, place in arguments.items()}
    if callee := fact.parts.get("callee"):
        texts["callee"] = context.text(callee)
    new = fill(str(options["source"]), context, fact, span, texts)
    if new is None or None in texts.values():
        return None
    return Draft(f"Use `{new.text}`", (*new.edits, context.edit(*span, new.text)), new.creates)


def _call_and_arguments(
    fact: Fact, options: Options, context: FixContext
) -> tuple[Span, dict[str, Span]] | None:
    """Where the call of a fact stands, and its arguments by their parameters; None if not all are seen."""
    if isinstance(fact, ApiUse):
        span, receiver = fact.parts.get("call"), fact.parts.get("receiver")
        if span is None or not fact.complete:
            return None
        arguments = {a.name: a.value_span for a in fact.args}
        return span, {**arguments, "receiver": receiver} if receiver else arguments
    node, operation = path_to(context.module, *fact.span)[-1], str(getattr(fact, "operation", ""))
    parameters = options.get("signature") or signatures.parameters(operation)
    if not isinstance(node, ir.Call) or parameters is None or len(node.args) > len(parameters):
        return None
    if any(a.star for a in node.args):
        return None
    named = {
        a.keyword or name: (a.value.start, a.value.end)
        for name, a in zip(parameters, node.args, strict=False)
    }
    if operation.startswith("Tensor.") and isinstance(node.func, ir.Attribute):
        named["receiver"] = node.func.value.start, node.func.value.end
    return (node.start, node.end), named


def _calls(span: Span, method: object, context: FixContext) -> bool:
    node = path_to(context.module, *span)[-1]
    return method is None or (
        isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == method
    )


def _text(span: Span, context: FixContext, named: bool) -> str | None:
    """Return the text for an expression; None for one that must not be evaluated twice."""
    text = context.text(span)
    node = path_to(context.module, *span)[-1]
    if isinstance(node, ir.Const) or is_plain(node) or (isinstance(node, _ATOMS) and not named):
        return text
    return None if named else f"({text})"
