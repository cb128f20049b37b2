"""Writes another precision: `torch.float16`, `.half()`, `"fp16"`, `fp16=True`."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig.facts import ApiUse, Argument, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, Options


def rename_precision(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `words`: the old names of the precision and what to write for each. Only what stands
    in the call itself is renamed; a value that comes from a variable is not."""
    if not isinstance(fact, ApiUse):
        return None
    words: Mapping[str, str] = options["words"]
    edits = _callee(fact, words, context)
    for argument in fact.args:
        edits += _argument(fact, argument, words, context)
    if not edits:
        return None
    return Draft(f"Use `{edits[0].content}`", tuple(edits))


def _callee(fact: ApiUse, words: Mapping[str, str], context: FixContext) -> list[Edit]:
    """The method of `x.half()`."""
    callee = fact.parts.get("callee")
    old = fact.name.rpartition(".")[2]
    if callee is None or old not in words or not context.text(callee).endswith(f".{old}"):
        return []
    return [context.edit(callee[1] - len(old), callee[1], words[old])]


def _argument(fact: ApiUse, argument: Argument, words: Mapping[str, str], context: FixContext) -> list[Edit]:
    (start, end), value = argument.value_span, argument.value
    text = context.text((start, end))
    if value.kind == "api":
        old = str(value.value).rpartition(".")[2]
        if old in words and text.endswith(f".{old}"):
            return [context.edit(end - len(old), end, words[old])]
    elif isinstance(value.value, str) and value.value in words and text[1:-1] == value.value:
        return [context.edit(start + 1, end - 1, words[value.value])]
    elif text == "True" and argument.keyword and argument.name in words:
        new = words[argument.name]
        if fact.complete and fact.argument(new) is None:
            at = argument.span[0]
            return [context.edit(at, at + len(argument.name), new)]
    return []
