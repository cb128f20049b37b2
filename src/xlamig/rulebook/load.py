"""Finds the book, reads every page and table, and checks them against each other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xlamig.config.book import folders_of
from xlamig.config.errors import did_you_mean
from xlamig.config.paths import read_regular
from xlamig.config.settings import Settings
from xlamig.rulebook.book import Rulebook, outline_of
from xlamig.rulebook.errors import RulebookError, Where
from xlamig.rulebook.operators import OperatorTable
from xlamig.rulebook.outline import Outline
from xlamig.rulebook.page import Page, read_toml, split_page
from xlamig.rulebook.parameters import check_arguments
from xlamig.rulebook.rule import Rule, check_rule, read_rule
from xlamig.rulebook.shorthand import expand
from xlamig.rulebook.tables import OPERATORS, Tables, read_table

T = TypeVar("T")

TABLE_FOLDERS = ("api", "packages", "environment", "kernels")
_PAGE_NAME = re.compile(r"[A-Z]{2,}\d")


class File(NamedTuple):
    """A page or table; `shown` is its name in messages."""

    path: Path
    inside: str
    shown: str
    text: str

    @property
    def is_table(self) -> bool:
        return self.path.suffix == ".toml"


Heads = Sequence[Mapping[str, Any]]
"""The TOML of pages, in its long form, and of tables, in the order of the files."""


@dataclass(frozen=True, slots=True)
class Files:
    """A book as it is on disk; the digest is of all that it says."""

    files: tuple[File, ...]
    digest: str


def load(settings: Settings) -> Rulebook:
    """The book that comes with xlamig and the user's own folders; raises RulebookError."""
    return compile_book(read_book(settings), settings)


def load_folders(folders: Iterable[Path], settings: Settings) -> Rulebook:
    return compile_book(read_folders(folders), settings)


def read_book(settings: Settings) -> Files:
    return read_folders(folders_of(settings))


def read_folders(folders: Iterable[Path]) -> Files:
    files = tuple(file for folder in folders for file in _read(folder))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.inside}\0{len(file.text)}\0{file.text}".encode())
    return Files(files, digest.hexdigest())


def read_heads(book: Files) -> Heads:
    """Parses the TOML of all files: most of the work of loading a book, and always the same."""
    heads: list[Mapping[str, Any]] = []

    _all(lambda file: heads.append(_head(file)), book.files)
    return heads


@lru_cache(maxsize=1024)
def _head(file: File) -> Mapping[str, Any]:
    """Return the TOML of a file, parsed once for the books that hold the file."""
    where = Where(file.shown)
    if file.is_table:
        return read_toml(file.text, where)
    return expand(read_toml(split_page(file.text, where)[0], where), where)


def compile_book(
    book: Files, settings: Settings, heads: Heads | None = None, outline: Outline | None = None
) -> Rulebook:
    """Checks and compiles every page and table. `heads` and `outline` are those of this very book, which has
    no mistakes if its outline is known: its rules are then compiled when they are asked for."""
    parsed = dict(zip(book.files, read_heads(book) if heads is None else heads, strict=True))
    tables: Tables = {}
    rules: dict[str, Rule] = {}

    def add_table(file: File) -> None:
        name, folder, where = file.path.stem, file.path.parent.name, Where(file.shown)
        if (folder, name) in tables:
            raise where.error(f'there is another table "{name}"')
        tables[folder, name] = read_table(name, folder, parsed[file], where, settings)

    def add_rule(file: File) -> None:
        _, body = split_page(file.text, Where(file.shown))
        rule = read_rule(Page(file.shown, file.path.stem, parsed[file], body), tables)
        if outline is None:
            check_rule(rule)
            for other in rules.values():
                if rule.code == other.code or rule.name == other.name:
                    raise Where(file.shown).error(f"{other.page.filename} has the same code or name")
        rules[rule.code] = rule

    _all(add_table, (file for file in book.files if file.is_table))
    tables["api", OPERATORS] = OperatorTable(settings.target, tables.get(("api", OPERATORS)))
    _all(add_rule, (file for file in book.files if not file.is_table))
    if outline is None:
        _all(partial(_check_codes, rules=rules), rules.values())
        outline = outline_of(rules.values(), tables, book.digest, settings)
        _all(partial(check_arguments, signatures=outline.interest.signatures), rules.values())
    return Rulebook(rules.values(), tables, _precedence(rules), settings, outline)


def _all(action: Callable[[T], None], items: Iterable[T]) -> None:
    """Does every item, then raises the mistakes of all."""
    mistakes: list[str] = []
    for item in items:
        try:
            action(item)
        except RulebookError as error:
            mistakes += error.mistakes
    if mistakes:
        raise RulebookError(*mistakes)


def _read(folder: Path) -> Iterator[File]:
    if not folder.is_dir():
        raise Where(folder.as_posix()).error("there is no such folder of rules")
    paths = _files(folder)
    if not paths:
        raise Where(folder.as_posix()).error("the folder has neither pages (CODE-name.md) nor tables")
    for path in paths:
        inside = path.relative_to(folder).as_posix()
        shown = f"{folder.name}/{inside}"
        try:
            yield File(path, inside, shown, read_regular(path))
        except (OSError, UnicodeDecodeError) as error:
            raise Where(shown).error(f"cannot be read: {error}") from None


def _files(folder: Path) -> list[Path]:
    tables = [path for name in TABLE_FOLDERS for path in sorted((folder / name).glob("*.toml"))]
    return tables + sorted(path for path in folder.rglob("*.md") if _PAGE_NAME.match(path.name))


def _check_codes(rule: Rule, rules: Mapping[str, Rule]) -> None:
    named = {
        "supersedes": sorted(rule.ever_supersedes),
        "successor": [rule.successor] if rule.successor else [],
        "relate": [code for relation in rule.relations for code in relation.codes],
    }
    for key, codes in named.items():
        for code in codes:
            if code not in rules:
                raise rule.page.where.at(key).error(f"no rule has the code {code}{did_you_mean(code, rules)}")


def _precedence(rules: Mapping[str, Rule]) -> Mapping[str, int]:
    """A number per code, lower for a rule than for those it supersedes."""
    graph: dict[str, set[str]] = {code: set() for code in rules}
    for rule in rules.values():
        for code in rule.ever_supersedes:
            graph[code].add(rule.code)
    try:
        return {code: i for i, code in enumerate(TopologicalSorter(graph).static_order())}
    except CycleError as error:
        raise RulebookError(f"rules supersede each other: {', '.join(error.args[1])}") from None
