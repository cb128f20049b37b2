"""`[[match]]`: which facts a rule is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xlamig.facts import FACTS, Fact
from xlamig.rulebook.conditions import Condition, compile_condition, keywords
from xlamig.rulebook.errors import Where
from xlamig.rulebook.keys import Keys, no_such
from xlamig.rulebook.patterns import NO, Fit, Test, compile_pattern
from xlamig.rulebook.program import Program
from xlamig.rulebook.shapes import KEYS, shapes
from xlamig.rulebook.tables import Row, Table, Tables

# What the analyser has to be told to look for: a match has to name one of these.
INDEXED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "api-use": ("name", "table", "keyword"),
    "package": ("package", "name", "table"),
    "environment": ("variable", "name", "table"),
    "kernel": ("name", "table", "via"),
}


# Whose rows a table has, where they are not APIs.
FOLDERS: Mapping[str, str] = {"package": "packages", "environment": "environment", "kernel": "kernels"}


@dataclass(frozen=True, slots=True)
class Match:
    """`sought` are the plain texts that the analyser indexes by, by field."""

    kind: str
    condition: Condition
    tables: tuple[Table, ...]
    sought: Mapping[str, tuple[str, ...]]
    name: Test | None
    row: Test | None = None
    in_files: bool = False  # of packages: as they are required, not as they are imported

    @property
    def names(self) -> Iterator[str]:
        """The rows that can fit."""
        for table in self.tables:
            yield from table.names(lambda values: self.row is None or self.row(values) != NO)

    @property
    def rows(self) -> Iterator[Row]:
        """The written rows that can fit."""
        for table in self.tables:
            yield from (row for row in table.written if self.row is None or self.row(row.values) != NO)

    def may_fit(self, name: str) -> bool:
        """Return whether a fact of this name can fit, whatever else it says."""
        if self.name is not None and self.name(name) == NO:
            return False
        return not self.tables or self._find(name) is not None

    def fit(self, fact: Fact, program: Program) -> tuple[Fit, Row | None]:
        row = None
        if self.tables:
            row = self._find(getattr(fact, "name", ""))
            if row is None:
                return NO, None
            row = row.row_for(fact)
        return self.condition(fact, row, program), row

    def _find(self, name: str) -> Row | None:
        return next((row for table in self.tables if (row := table.find(name)) is not None), None)


def read_match(keys: Keys, tables: Tables) -> Match:
    kind = keys.choice("fact", FACTS, required=True)
    patterns = {key: pattern for key, pattern in keys.values.items() if key not in ("fact", "table")}
    found = tuple(_tables(kind, keys.values.get("table", []), keys.where.at("table"), tables))
    condition = compile_condition(kind, patterns, keys.where, has_row=bool(found))
    name = shapes(kind).get("name") if "name" in patterns else None
    test = compile_pattern(patterns["name"], name, keys.where.at("name")) if name else None
    row = compile_pattern(patterns["row"], KEYS, keys.where.at("row")) if "row" in patterns else None
    required = kind == "package" and keys.values.get("via") == "requirement"
    return Match(kind, condition, found, _sought(kind, keys), test, row, required)


def _tables(kind: str, names: object, where: Where, tables: Tables) -> list[Table]:
    if names and "table" not in INDEXED_FIELDS.get(kind, ()):
        raise where.error(f"a table has no rows for facts of kind {kind}")
    folder = FOLDERS.get(kind, "api")
    known = {name: table for (place, name), table in tables.items() if place == folder}
    found: list[Table] = []
    for name in names if isinstance(names, list) else [names]:
        table = known.get(name) if isinstance(name, str) else None
        if table is None:
            other = next((place for place, other in tables if other == name), None)
            if other is None:
                raise where.error(no_such(name, known))
            raise where.error(f'"{name}" is a table of {other}, which {kind} facts are not looked up in')
        found.append(table)
    return found


def _sought(kind: str, keys: Keys) -> dict[str, tuple[str, ...]]:
    fields = INDEXED_FIELDS.get(kind, ())
    sought: dict[str, tuple[str, ...]] = {}
    for field in fields:
        pattern = keys.values.get(field)
        if field == "table" or pattern is None:
            continue
        here = keys.where.at(field)
        if field == "keyword":
            sought[field] = tuple(keywords(pattern, here))
            continue
        texts = pattern if isinstance(pattern, list) else [pattern]
        if all(isinstance(text, str) for text in texts):
            for text in texts:
                _check_glob(kind, field, text, here)
            sought[field] = tuple(texts)
    if fields and not sought and not keys.values.get("table"):
        raise keys.where.error(f"has to say what to look for: {' or '.join(fields)} as plain text or a list")
    return sought


def _check_glob(kind: str, field: str, text: str, where: Where) -> None:
    """The analyser looks for whole names, for all names below one, and for variables by their start."""
    before = text.partition("*")[0]
    if before == text:
        return
    if field == "package":
        raise where.error('a package cannot hold "*": it is looked for by its whole name')
    if field == "variable" and not before:
        raise where.error('"*" has to come after the start of the name')
    if field == "name" and kind == "api-use" and not before.rpartition(".")[0]:
        raise where.error('"*" has to come after the first dot')
    if field == "name" and kind == "api-use" and is_method(text):
        raise where.error('the name of a method cannot hold "*"')


RECEIVERS = frozenset({"Tensor", "Module", "unknown", "setting"})


def is_method(name: str) -> bool:
    """Return whether a canonical name is a receiver's class and a method: "Tensor.cuda"."""
    receiver, _, method = name.partition(".")
    return bool(method) and "." not in method and (receiver in RECEIVERS or receiver[:1].isupper())
