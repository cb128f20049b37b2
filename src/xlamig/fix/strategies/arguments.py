"""Drops or replaces one argument of a call."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from xlamig.facts import ApiUse, Argument, Fact, Span
from xlamig.fix.context import Draft, Expression, FixContext, Options
from xlamig.fix.imports import after_newline, line_start
from xlamig.fix.template import fill

_COMMA = re.compile(r"\s*,[ \t]*")
_BLANK = re.compile(r"[ \t]*(?=[\r\n])")


def drop_argument(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `argument`: the keyword argument to delete, or a list: those of them that are there."""
    wanted = options.get("argument", "")
    names = wanted if isinstance(wanted, list) else [wanted]
    found = [a for a in fact.args if a.name in names] if isinstance(fact, ApiUse) else []
    if not found or not all(argument.keyword for argument in found):
        return None
    text = context.source.text
    cuts = [_whole_lines(text, _keep_comments(text, argument)) for argument in found]
    if any(one[1] > other[0] for one, other in pairwise(cuts)):
        return None  # each takes the comma between them
    dropped = " and ".join(f"`{context.text(argument.span)}`" for argument in found)
    return Draft(f"Drop {dropped}", tuple(context.edit(*cut, "") for cut in cuts))


def replace_argument(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options `argument`, and `value`, a constant, or `source`, a template (see fix/template.py) of the
    new value, in which the argument's name stands for the old one."""
    argument = _argument(fact, options)
    if argument is None:
        return None
    old = context.text(argument.value_span)
    filled = Expression(_literal(options.get("value"), old))
    if "source" in options:
        made = fill(str(options["source"]), context, fact, argument.value_span, {argument.name: old})
        if made is None:
            return None
        filled = made
    new = filled.text
    if new == old or ("\n" in old and "#" in old):
        return None
    edits = (*filled.edits, context.edit(*argument.value_span, new))
    return Draft(f"Use `{new}` instead of `{old}`", edits, filled.creates)


def _argument(fact: Fact, options: Options) -> Argument | None:
    return fact.argument(str(options.get("argument", ""))) if isinstance(fact, ApiUse) else None


def _literal(value: Any, old: str) -> str:
    """`value` in Python, with the quotes the old text has."""
    text = repr(value)
    if not isinstance(value, str):
        return text
    quote = "'" if old.startswith("'") else '"'
    return quote + text[1:-1] + quote if text[0] == "'" and quote not in text[1:-1] else text


def _keep_comments(text: str, argument: Argument) -> Span:
    """The cut without a comment that it would take along."""
    (start, end), (cut_start, cut_end) = argument.span, argument.cut
    if "#" not in text[cut_start:start] + text[end:cut_end]:
        return cut_start, cut_end
    comma = _COMMA.match(text, end)
    return start, comma.end() if comma else end


def _whole_lines(text: str, cut: Span) -> Span:
    """`cut` with the line it would leave blank."""
    start = line_start(text, cut[0])
    blank = _BLANK.match(text, cut[1])
    if blank and not text[start : cut[0]].strip():
        return start, after_newline(text, blank.end())
    return cut
