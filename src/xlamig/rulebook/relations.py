"""`[[relate]]`: findings of other rules that a row of a table has something to say about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xlamig.findings import Concern
from xlamig.rulebook.keys import Keys, no_such
from xlamig.rulebook.match import Match
from xlamig.rulebook.tables import Row

RELATION_KEYS = ("row", "codes", "unless_help")


@dataclass(frozen=True, slots=True)
class Relation:
    """`row` is the key under which a row says it; a row without it relates nothing, and none does where the
    help of the finding is that of the key `unless_help`."""

    row: str
    codes: tuple[str, ...]
    unless_help: str = ""

    def concern(self, row: Row | None, help_: str) -> Concern | None:
        """Return what a row has to say beside a finding with this help."""
        text = row.values.get(self.row) if row is not None else None
        if row is None or not isinstance(text, str):
            return None
        others = row.values.get(self.unless_help)
        apart = isinstance(others, Mapping) and help_ in others.values()
        return None if apart else Concern(text, self.codes)


def read_relation(keys: Keys, matches: Iterable[Match]) -> Relation:
    row = keys.text("row", required=True)
    apart = keys.text("unless_help")
    known = {key for match in matches for table in match.tables for key in table.keys}
    for name, key in (("row", row), ("unless_help", apart)):
        if key and key not in known:
            raise keys.where.at(name).error(no_such(key, known))
    codes = keys.texts("codes")
    if not codes:
        raise keys.where.at("codes").error("has to be a list of codes")
    return Relation(row, codes, apart or "")
