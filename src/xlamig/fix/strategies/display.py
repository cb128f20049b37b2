"""Shows the row's title and writes nothing."""

from __future__ import annotations

from xlamig.facts import Fact
from xlamig.fix.context import Draft, FixContext, Options


def display(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    return Draft("")
