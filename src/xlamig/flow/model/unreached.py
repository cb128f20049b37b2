"""Find the functions and classes that nothing in a program mentions, or only code that never runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from xlamig.flow.model.mentions import HERE, Block, Conditions, Defined, Mentions
from xlamig.knowledge import values as table

Modules = Iterable[tuple[str, Mentions]]
_IsOff = Callable[[Conditions], str]


class Reach:
    """The mentions of all modules, each with its key; `is_own` tells the project's packages by name."""

    def __init__(self, modules: Modules, is_own: Callable[[str], bool]) -> None:
        self._every = list(modules)
        searched = frozenset[str]().union(*(mentions.searched for _, mentions in self._every)) - {HERE}
        self._methods_only = any(is_own(where.partition(".")[0]) for where in searched)
        self._ends = tuple(frozenset[str]().union(*(mentions.parts for _, mentions in self._every)))
        self._bases: dict[str, set[str]] = {}
        for _, mentions in self._every:
            for name, above in mentions.bases:
                self._bases.setdefault(name, set()).update(above)

    def unmentioned(
        self, listed: Collection[str], elsewhere: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, Defined]]:
        """Yield the functions and classes of the `listed` modules that nothing mentions, or only such ones,
        each with its module's key; `elsewhere` are the names that other files mention."""
        known = [
            (key, one) for key, one in self._known_by_name() if key in listed and one.name not in elsewhere
        ]
        always = frozenset[str]().union(*(_always_named(mentions) for _, mentions in self._every))
        unused: dict[tuple[str, str], str] = {}
        while True:
            uses = (
                block.names
                for key, mentions in self._every
                for block in mentions.blocks
                if not unused or not _around(key, block, unused)
            )
            named = always.union(*uses)
            found = {(key, one.scope): one.name for key, one in known if one.name not in named}
            if found.keys() <= unused.keys():
                break
            unused = found
        yield from ((key, one) for key, one in known if (key, one.scope) in unused)

    def unreached(self, is_off: _IsOff, named: frozenset[str] = frozenset()) -> Mapping[tuple[str, str], str]:
        """Return by module and scope the functions and classes that only code mentions which never runs, and
        the test that keeps it from running, as `is_off` returns it; `named` are mentioned elsewhere."""
        blocks = [
            (key, block, is_off(block.conditions))
            for key, mentions in self._every
            for block in mentions.blocks
        ]
        found: dict[tuple[str, str], str] = {}
        if not any(why for _, _, why in blocks):
            return found
        known = [(key, one) for key, one in self._known_by_name() if one.name not in named]
        while True:
            runs: set[str] = set()
            kept: dict[str, str] = {}
            for key, block, why in blocks:
                off = why or _around(key, block, found)
                if off:
                    kept.update(dict.fromkeys(block.names, off))
                else:
                    runs |= block.names
            now = {
                (key, one.scope): kept[one.name]
                for key, one in known
                if one.name in kept and one.name not in runs
            }
            if now.keys() <= found.keys():
                return found
            found = {**now, **found}

    def _known_by_name(self) -> Iterator[tuple[str, Defined]]:
        """Yield the functions and classes that only a mention of their name can run."""
        for key, mentions in self._every:
            for one in mentions.defined:
                looked_up = one.name.startswith(self._ends) or one.name.endswith(self._ends)
                searchable = not one.owner and (self._methods_only or HERE in mentions.searched)
                if not looked_up and not searchable and self._are_own(one.owner or one.name, set()):
                    yield key, one

    def _are_own(self, owner: str, seen: set[str]) -> bool:
        """Return whether the methods of a class are called by the project alone: it derives from its classes
        and from such as `torch.nn.Module`."""
        if not owner or owner in seen:
            return True
        seen.add(owner)
        known = table.names("modules", "above")
        return all(
            base in known or (base in self._bases and self._are_own(base, seen))
            for base in self._bases.get(owner, ())
        )


def _always_named(mentions: Mentions) -> frozenset[str]:
    """Return the names in texts that something is compared with, and where a module looks up names of its
    own, what it imports."""
    return mentions.compared | mentions.imported if HERE in mentions.searched else mentions.compared


def _around(key: str, block: Block, found: Mapping[tuple[str, str], str]) -> str:
    """Return why the function or class that a block lies in never runs; "" if it may."""
    parts = block.scope.split(".")
    scopes = (".".join(parts[: i + 1]) for i in range(len(parts)))
    return next((found[key, scope] for scope in scopes if (key, scope) in found), "")
