"""Follow names that a program computes to definitions of a module, and to methods of objects."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from xlamig.flow.model.choices import chosen
from xlamig.flow.model.chosen import PICKED
from xlamig.flow.model.closure import closure
from xlamig.flow.model.lookups import HERE, Pick
from xlamig.flow.model.mentioned import Block, Defined, Mentions
from xlamig.flow.model.references import ATTRIBUTE, IMPORTED, UNFOUND, Referring, defined_in


class Picks:
    """The look-ups of computed names in all modules, each with its file: `blocks` are mentions, as it were,
    of all that they may lead to, each under the condition that it is chosen."""

    def __init__(self, modules: Collection[tuple[str, Mentions]], referring: Referring) -> None:
        self._every = dict(modules)
        self._referring = referring
        self.unfound: dict[str, frozenset[str]] = {}
        """By file, the modules in which names are looked up that are not found, or not all of what they
        hold."""
        self.blocks: list[tuple[str, Block]] = []
        parts: set[str] = set()
        for key, mentions in modules:
            for pick in sorted(mentions.picks):
                found = self._candidates(key, pick)
                if found is None:
                    self.unfound[key] = self.unfound.get(key, frozenset()) | {pick.where}
                    parts.update(end for end in (pick.before, pick.after) if end)
                else:
                    where = key if pick.where == HERE else pick.where
                    self.blocks += ((key, block) for block in _blocks(pick._replace(where=where), found))
        self.unfound_parts = frozenset(parts)

    def _candidates(self, key: str, pick: Pick) -> list[tuple[str, Defined]] | None:
        """Return what a look-up may lead to, None if that is not known."""
        if not pick.where:
            return self._named(pick)
        files = {key} if pick.where == HERE else self._files(key, pick.where)
        inside = closure(files, self._referring.starred_in)
        if not files or UNFOUND in inside or not inside <= self._every.keys():
            return None
        imported = frozenset[str]().union(*(self._every[file].imported for file in inside))
        return [
            (file, one)
            for file, one in self._named(pick)
            if not one.owner and (file in inside or one.name in imported)
        ]

    def _files(self, key: str, where: str) -> set[str]:
        return {file for file in self._referring.modules_in({IMPORTED + where}, key) if file in self._every}

    def _named(self, pick: Pick) -> list[tuple[str, Defined]]:
        """Return the definitions of the names that have the constant ends of a look-up."""
        ends = pick.before, pick.after
        if ends not in self._by_ends:
            least = len(pick.before) + len(pick.after)
            self._by_ends[ends] = [
                (file, one)
                for file, mentions in self._every.items()
                for one in mentions.defined
                if len(one.name) > least
                and one.name.startswith(pick.before)
                and one.name.endswith(pick.after)
            ]
        return self._by_ends[ends]

    @cached_property
    def _by_ends(self) -> dict[tuple[str, str], list[tuple[str, Defined]]]:
        return {}


def _blocks(pick: Pick, found: Collection[tuple[str, Defined]]) -> Iterator[Block]:
    table = f"{PICKED}{pick.where}:{pick.before}*{pick.after}"
    for file, one in found:
        key = one.name[len(pick.before) : len(one.name) - len(pick.after)]
        condition = chosen(table, key, f'"{one.name}"')
        reference = ATTRIBUTE + one.name if one.owner else defined_in(file, one.name)
        yield Block("", ((condition, True),), frozenset({reference}))
