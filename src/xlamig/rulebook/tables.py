"""Tables of what is known per API or package: `rules/api/*.toml`, `rules/packages/*.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xlamig.config.settings import TARGETS
from xlamig.rulebook.errors import Where
from xlamig.rulebook.keys import Keys
from xlamig.rulebook.patterns import glob
from xlamig.rulebook.rulings import RULING_KEYS, Ruling, read_ruling


@dataclass(frozen=True, slots=True)
class Row:
    """`values` are all keys as written; `rulings` what the row says per target."""

    name: str
    values: Mapping[str, Any]
    rulings: Mapping[str, Ruling]
    signature: tuple[str, ...] | None
    aliases: tuple[str, ...]
    where: Where


@dataclass(frozen=True)
class Table:
    name: str
    folder: str  # "api" or "packages"
    rows: Mapping[str, Row]

    def find(self, name: str) -> Row | None:
        """The row of a name: its own, else the longest one with `*` that fits; in a table of
        packages else the row of a parent package."""
        row = self.rows.get(name)
        if row is None:
            row = next((row for matches, row in self._globs if matches(name)), None)
        if row is None and self.folder == "packages" and "." in name:
            return self.find(name.rpartition(".")[0])
        return row

    @cached_property
    def _globs(self) -> list[tuple[Callable[[str], Any], Row]]:
        names = sorted((name for name in self.rows if "*" in name), key=lambda name: (-len(name), name))
        return [(glob(name), self.rows[name]) for name in names]


def read_table(name: str, folder: str, data: object, where: Where) -> Table:
    rows = Keys(data, where, known=("row",)).table("row") or {}
    return Table(
        name, folder, {key: _read_row(key, row, where.at(f'row."{key}"')) for key, row in rows.items()}
    )


def _read_row(name: str, data: object, where: Where) -> Row:
    keys = Keys(data, where)
    signature = keys.texts("signature") if "signature" in keys.values else None
    rulings: dict[str, Ruling] = {
        target: read_ruling(Keys(ruling, where.at(target), RULING_KEYS))
        for target in TARGETS
        if (ruling := keys.table(target)) is not None
    }
    return Row(name, keys.values, rulings, signature, keys.texts("alias"), where)
