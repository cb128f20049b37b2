"""Which entries of tables the texts of a program choose: defaults, settings, commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from xlamig.flow.model.choices import HERE, REGISTERED
from xlamig.flow.model.conditions import Condition, Conditions
from xlamig.flow.model.mentioned import Mentions
from xlamig.flow.model.references import TEXT

CHOSEN = "chosen: "
"""Begins the reason why something never runs: the entry of a table that nothing chooses."""

_WORD = re.compile(r"\w[\w-]*")
_PART = re.compile(r"[^\W_]+")
_NAME = r"([A-Za-z][\w-]*(?:\.\w+)*)"
# After `key:` and `key=`, an option, in a list of texts, alone in a line of a list; not in prose.
_VALUES = tuple(
    re.compile(before + _NAME + after, re.MULTILINE)
    for before, after in (
        (r"""(?:[=:]|(?<![\w-])--?[A-Za-z][\w.-]*[ \t])[ \t]*["'\[({]*""", ""),
        (r"""[,\[][ \t]*["']""", ""),
        (r"(?<=\w),", ""),
        (r"""^[ \t]*-[ \t]+["']?""", r"""["']?[ \t]*$"""),
    )
)
_REGISTERS = re.compile(r"(?i)regist")
# Words that programs give as values for many reasons.
_SAY_NOTHING = frozenset({
    "none", "null", "default", "true", "false", "auto", "train", "test", "val", "eval", "main", "run",
    "build", "data", "model", "loss", "name", "type", "path", "load", "save", "mean", "sum", "config",
})  # fmt: skip


class Choices:
    """The tables of a program, by module, and the texts that may choose from them; `is_own` tells the
    project's packages by name. `picked` are the conditions of look-ups of names, each with its file, and
    whether a text that is the name says that it is chosen."""

    def __init__(
        self,
        modules: Iterable[tuple[str, Mentions]],
        texts: Iterable[str],
        is_own: Callable[[str], bool],
        picked: Iterable[tuple[str, Condition, bool]],
    ) -> None:
        self._every = list(modules)
        self._texts = list(texts)
        self._is_own = is_own
        self._picked = list(picked)
        self._looked_up = frozenset[str]().union(*(one.looked_up for _, one in self._every))
        self._spread = frozenset[str]().union(*(one.spread for _, one in self._every))

    def out(self, file: str, conditions: Conditions) -> str:
        """Return why one of several conditions in a file never holds: nothing chooses the key; "" if all
        may."""
        for condition, _ in conditions:
            if condition.kind == "chosen" and self._is_out(file, condition):
                return CHOSEN + condition.text
        return ""

    def _is_out(self, file: str, condition: Condition) -> bool:
        table, key = condition.op, _plain(str(condition.value))
        place = _place(file, condition)
        if not self._is_table(table) or place not in self._evident:
            return False
        return key not in self._named and self._places[key] <= {place}

    def _is_table(self, table: str) -> bool:
        """Return whether all that is done with a table is to look up names that are computed."""
        if table.startswith(REGISTERED):
            package, _, path = table.removeprefix(REGISTERED).partition(":")
            return not package or self._is_own(package) or _REGISTERS.search(path) is not None
        if table.startswith((HERE, PICKED)):
            return True
        return table in self._looked_up and table not in self._spread

    @cached_property
    def _places(self) -> Mapping[str, set[tuple[str, str]]]:
        """The tables with each key."""
        found: dict[str, set[tuple[str, str]]] = {}
        for file, condition in self._conditions():
            found.setdefault(_plain(str(condition.value)), set()).add(_place(file, condition))
        return found

    def _conditions(self) -> Iterator[tuple[str, Condition]]:
        for file, mentions in self._every:
            for block in mentions.blocks:
                yield from ((file, one) for one, _ in block.conditions if one.kind == "chosen")
        yield from ((file, one) for file, one, _ in self._picked)

    @cached_property
    def _evident(self) -> Collection[tuple[str, str]]:
        """The tables of which a default, a setting or a command chooses at least one key."""
        given = {_plain(value) for _, mentions in self._every for value in mentions.given}
        for text in self._texts:
            for value in (one for pattern in _VALUES for one in pattern.findall(text)):
                given |= {_plain(value), _plain(value.rpartition(".")[2])}
        given -= _SAY_NOTHING
        unsaid = {
            (_plain(str(one.value)), _place(file, one)) for file, one, alone in self._picked if not alone
        }
        return {
            place
            for key, places in self._places.items()
            if key in given
            for place in places
            if (key, place) not in unsaid
        }

    @cached_property
    def _named(self) -> Collection[str]:
        """The words of all texts, and those in code that stand in no table."""
        found: set[str] = set()
        for _, mentions in self._every:
            for block in mentions.blocks:
                for name in block.names:
                    if name.startswith(TEXT):
                        found.add(_plain(name[1:]))
                    elif name[0].isalpha():
                        found.add(_plain(name))
            for value in mentions.given:
                found |= {
                    _plain(value),
                    *map(_plain, _WORD.findall(value)),
                    *map(_plain, _PART.findall(value)),
                }
        for text in self._texts:
            for word in _WORD.findall(text):
                found |= {_plain(word), *map(_plain, _PART.findall(word))}
        return found


PICKED = "pick:"
"""Begins the name of a table that is what a module defines, or what objects have."""


def _place(file: str, condition: Condition) -> tuple[str, str]:
    """Return a table with its module; what decorators fill, and names are looked up in, is one for all."""
    table = condition.op
    if table.startswith(REGISTERED):
        return "", table.partition(":")[2]
    return ("" if table.startswith(PICKED) else file, table)


def _plain(word: str) -> str:
    """Return a word as one that chooses something may be written: `bald_batch` for `BaldBatch`."""
    return word.lower().replace("_", "").replace("-", "")
