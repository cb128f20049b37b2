"""`log.info(f"loss {loss}")` becomes `log.info("loss %s", loss)`, which formats what is printed only."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import path_to

_PLAIN = re.compile(r"f(\"|')((?:(?!\1)[^\\\r\n])*)\1")
_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


def lazy_log(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """An f-string on one line with names alone in its fields, and no other argument."""
    if not isinstance(fact, HostRead) or fact.via != "log":
        return None
    call = next((n for n in reversed(path_to(context.module, *fact.span)) if isinstance(n, ir.Call)), None)
    if call is None or len(call.args) != 1 or not isinstance(call.args[0].value, ir.FString):
        return None
    text = call.args[0].value
    plain = _PLAIN.fullmatch(context.text_of(text))
    if plain is None:
        return None
    quote, body = plain.groups()
    names = _FIELD.findall(body)
    pieces = _FIELD.split(body)[::2]
    if not names or any("{" in piece or "}" in piece for piece in pieces):
        return None
    message = "%s".join(piece.replace("%", "%%") for piece in pieces)
    new = f"{quote}{message}{quote}, {', '.join(names)}"
    return Draft(f"Use `{new}`", (context.edit(text.start, text.end, new),))
