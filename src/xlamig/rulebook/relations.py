"""`[[relate]]`: findings of other rules that a row of a table has something to say about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xlamig.findings import Concern
from xlamig.rulebook.keys import Keys, no_such
from xlamig.rulebook.match import Match
from xlamig.rulebook.tables import Row

RELATION_KEYS = ("row", "codes")


@dataclass(frozen=True, slots=True)
class Relation:
    """`row` is the key under which a row says it; a row without it relates nothing."""

    row: str
    codes: tuple[str, ...]

    def concern(self, row: Row | None) -> Concern | None:
        text = row.values.get(self.row) if row is not None else None
        return Concern(text, self.codes) if isinstance(text, str) else None


def read_relation(keys: Keys, matches: Iterable[Match]) -> Relation:
    row = keys.text("row", required=True)
    known = {key for match in matches for table in match.tables for key in table.keys}
    if row not in known:
        raise keys.where.at("row").error(no_such(row, known))
    codes = keys.texts("codes")
    if not codes:
        raise keys.where.at("codes").error("has to be a list of codes")
    return Relation(row, codes)
