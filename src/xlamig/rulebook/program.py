"""Conditions on the whole program: the APIs its files use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from xlamig.knowledge import values as table
from xlamig.rulebook.errors import Where
from xlamig.rulebook.keys import Keys

PROGRAM_KEYS = ("program", "unless_program")
_GROUP = "@"


@dataclass(frozen=True, slots=True)
class Program:
    """The names of the book's conditions that some file uses, and those that certainly no file uses; then
    the same of the files that the programs with this file import. A name is in neither of two when files of
    the program were not seen."""

    uses: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    not_imported: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(sorted(getattr(self, field.name))) for field in fields(self))


UNSEEN = Program()


def names_of(pattern: object, where: Where, *also: str) -> frozenset[str]:
    """The names of `{ uses = [...] }`, a table that may have the keys `also`."""
    keys = Keys(pattern, where, ("uses", *also))
    written = keys.texts("uses")
    if not written:
        raise where.at("uses").error("has to be a list of names")
    for name in written:
        if name.startswith(_GROUP) and not _members(name):
            raise where.at("uses").error(f'"{name}" is no group of names')
    names = [member for name in written for member in _members(name)]
    for name in names:
        _check(name, where.at("uses"))
    return frozenset(names)


def asks_imports(pattern: object, where: Where) -> bool:
    """Return whether `{ uses = [...], imported = true }` asks only what the file's own program imports."""
    return Keys(pattern, where).flag("imported", False)


def _members(name: str) -> Iterable[str]:
    """Return the names of a group, as "@training" is one; of another name, itself."""
    return table.program_group(name[1:]) if name.startswith(_GROUP) else (name,)


def _check(name: str, where: Where) -> None:
    before, star, _ = name.partition("*")
    if star and not before.endswith("."):
        raise where.error(f'"{name}": "*" has to come after a dot')
    if name.partition(".")[0][:1].isupper() or name.startswith("unknown."):
        raise where.error(f'"{name}": a program is asked for functions and classes, not for methods')


def asked_in(head: object) -> Program:
    """The names in all conditions on the program in a page's head, as those of `program`, of
    `unless_program`, and of each those asked of what the file's own program imports."""
    asked = set(_conditions(head))
    kinds = (*PROGRAM_KEYS, *(f"{key} imported" for key in PROGRAM_KEYS))
    return Program(*(frozenset(name for key, name in asked if key == kind) for kind in kinds))


def _conditions(head: object) -> Iterator[tuple[str, str]]:
    if isinstance(head, list):
        for item in head:
            yield from _conditions(item)
    elif isinstance(head, Mapping):
        for key, value in head.items():
            if key in PROGRAM_KEYS and isinstance(value, Mapping):
                keys = (key, f"{key} imported") if value.get("imported") else (key,)
                yield from (
                    (k, name) for word in value.get("uses", ()) for name in _members(word) for k in keys
                )
            else:
                yield from _conditions(value)


def word_of(name: str) -> str:
    """A word that a file has to hold to use the name."""
    if name.endswith("=)"):  # a keyword of a call that many packages have: `rand(device=)`
        return name.partition(".")[0]
    return re.split(r"[*(=]", name, maxsplit=1)[0].rstrip(".").rpartition(".")[2]
