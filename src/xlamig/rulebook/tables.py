"""Tables of what is known per API, package or part of the environment: `rules/api/*.toml` and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from xlamig.config.errors import did_you_mean
from xlamig.config.settings import TARGETS, Settings
from xlamig.facts import Fact
from xlamig.findings import Confidence
from xlamig.rulebook.errors import Where
from xlamig.rulebook.keys import Keys
from xlamig.rulebook.patterns import glob
from xlamig.rulebook.rulings import RULING_KEYS, Ruling, read_ruling
from xlamig.rulebook.versions import admits, read_versions


@dataclass(frozen=True, slots=True)
class Row:
    """`values` are the keys as written, without the tables for other versions of a target; `rulings`
    what the row says per target and `all_rulings` what it says to any version; `keys` can be asked for."""

    name: str
    values: Mapping[str, Any]
    rulings: Mapping[str, Ruling]
    all_rulings: Mapping[str, tuple[Ruling, ...]]
    keys: frozenset[str]
    signature: tuple[str, ...] | None
    aliases: tuple[str, ...]
    where: Where
    cases: tuple[tuple[Callable[[Fact], bool], Mapping[str, Any]], ...] = ()  # other values for some calls
    confidence: Confidence | None = None  # an upper bound

    def row_for(self, fact: Fact) -> Row:
        """The row as it is for this fact."""
        for fits, values in self.cases:
            if fits(fact):
                return replace(self, values=values, cases=())
        return self


@dataclass(eq=False)
class Table:
    name: str
    folder: str  # "api", "packages", "environment" or "kernels"
    rows: Mapping[str, Row]
    foreign_methods: frozenset[str] = frozenset()  # names that objects of other kinds have as well

    @property
    def written(self) -> Iterable[Row]:
        """The rows of the rule book's own files."""
        return self.rows.values()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(key for row in self.written for key in row.keys)

    def names(self, fits: Callable[[Mapping[str, Any]], bool]) -> Iterable[str]:
        """The names of the rows whose values may fit."""
        return (name for name, row in self.rows.items() if fits(row.values))

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


OPERATORS = "operators"  # the table that measured rows are joined with
STACKS = ("packages", "stacks")
_KNOWN = (*TARGETS, "signature", "alias")  # keys that may be lists

Tables = dict[tuple[str, str], Table]
"""By folder and name."""


def read_table(name: str, folder: str, data: object, where: Where, settings: Settings) -> Table:
    known = ("row", "foreign-methods") if (folder, name) == ("api", OPERATORS) else ("row",)
    keys = Keys(data, where, known)
    written = keys.table("row") or {}
    _check_names(written, folder, where)
    rows = {key: _read_row(key, row, where.at(f'row."{key}"'), settings) for key, row in written.items()}
    if folder != "api":  # those of APIs are resolved before a fact is made
        rows |= {alias: row for row in rows.values() for alias in row.aliases}
    return Table(
        name,
        folder,
        rows,
        frozenset(keys.texts("foreign-methods")),
    )


def _check_names(rows: Mapping[str, Any], folder: str, where: Where) -> None:
    """Raise RulebookError for `[row.torch.f]`: without quotes TOML takes it for tables in a row."""
    for name, row in rows.items():
        tables = _tables_in(row)
        nested = any(_tables_in(table) for table in tables.values())
        if "." not in name and (nested or (folder == "api" and tables and len(tables) == len(row))):
            raise where.at(f"row.{name}").error(f'write the name in quotes: [row."{_dotted(name, tables)}"]')


def _tables_in(row: object) -> dict[str, Any]:
    """The tables of a row, but for those of targets."""
    items = row.items() if isinstance(row, dict) else ()
    return {key: value for key, value in items if isinstance(value, dict) and key not in TARGETS}


def _dotted(name: str, tables: Mapping[str, Any]) -> str:
    """The name that was meant, down to the first table that says something itself."""
    for key, table in tables.items():
        inner = _tables_in(table)
        return _dotted(f"{name}.{key}", inner if len(inner) == len(table) else {})
    return name


@cache
def _hint(key: str, known: tuple[str, ...]) -> str:
    """Rows have few keys, and each of them in many rows."""
    return did_you_mean(key, known)


def _check_keys(keys: Keys) -> None:
    """Raise RulebookError for a key that is nearly one with a meaning; all others are the row's own."""
    for key, value in keys.values.items():
        known = TARGETS if isinstance(value, dict) else _KNOWN if isinstance(value, list) else ()
        if key not in known and (hint := _hint(key, known)):
            raise keys.where.at(key).error(f"unknown key{hint}")


def _read_row(name: str, data: object, where: Where, settings: Settings) -> Row:
    keys = Keys(data, where)
    _check_keys(keys)
    signature = keys.texts("signature") if "signature" in keys.values else None
    values = dict(keys.values)
    rulings: dict[str, Ruling] = {}
    all_rulings: dict[str, tuple[Ruling, ...]] = {}
    for target in TARGETS:
        said = [(table, read_ruling(table), read_versions(table)) for table in _about(target, keys)]
        if not said:
            continue
        all_rulings[target] = tuple(ruling for _, ruling, _ in said)
        version = settings.version_of(target)
        held = [(table, ruling) for table, ruling, versions in said if admits(versions, version)]
        values.pop(target)
        if held:
            values[target], rulings[target] = held[0][0].values, held[0][1]
    return Row(
        name, values, rulings, all_rulings, frozenset(keys.values), signature, keys.texts("alias"), where
    )


def _about(target: str, keys: Keys) -> list[Keys]:
    """The tables of a target, most often one; the first for the version at hand counts."""
    where = keys.where.at(target)
    known = ("versions", *RULING_KEYS)
    if isinstance(keys.values.get(target), list):
        return [Keys(table, where.at(i), known) for i, table in enumerate(keys.list(target))]
    table = keys.table(target)
    return [] if table is None else [Keys(table, where, known)]
