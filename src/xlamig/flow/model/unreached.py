"""Find the functions and classes that nothing in a program mentions, or only code that never runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from functools import cached_property, partial
from itertools import compress
from operator import not_
from pathlib import PurePosixPath

from xlamig.flow.model.chosen import Choices
from xlamig.flow.model.closure import closure
from xlamig.flow.model.conditions import Conditions
from xlamig.flow.model.lookups import HERE
from xlamig.flow.model.mentioned import Block, Defined, Mentions
from xlamig.flow.model.picks import Picks
from xlamig.flow.model.references import ATTRIBUTE, IMPORTED, TEXT, UNFOUND, Referring, defined_in
from xlamig.knowledge import values as table

Modules = Iterable[tuple[str, Mentions]]
_IsOff = Callable[[str, Conditions], str]
_Place = tuple[str, str]
"""A module's key and a scope of it."""


class Reach:
    """The mentions of all modules, each with its file; `is_own` tells the project's packages by name,
    `referring` resolves references, `is_off` returns the test that keeps what has conditions from running, ""
    if it may run. `texts` may choose what a name that is computed leads to."""

    def __init__(
        self,
        modules: Modules,
        is_own: Callable[[str], bool],
        referring: Referring,
        is_off: _IsOff,
        texts: Iterable[str] | None = None,
    ) -> None:
        self._every = list(modules)
        self._referring = referring
        self._is_off = is_off
        self._picks = Picks(self._every, referring)
        self._chooses = texts is not None
        self._choices_in = partial(Choices, self._every, texts or (), is_own)
        searched = set(self._modules_searched(is_own))
        here = (key for key, mentions in self._every if HERE in mentions.searched)
        open_ones = [*here, *(key for key, _ in self._every if not searched.isdisjoint((key, _module(key))))]
        self._open = closure(open_ones, referring.starred_in)
        given = (mentions.imported for key, mentions in self._every if key in self._open)
        self._offered = frozenset[str]().union(*given)
        parts = frozenset[str]().union(*(mentions.parts for _, mentions in self._every))
        self._ends = tuple(parts | self._picks.unfound_parts)
        self._finds_classes = any(map(_finds_classes, (mentions for _, mentions in self._every)))
        self._trains_given = _trains_given([mentions for _, mentions in self._every])
        self._bases: dict[str, set[str]] = {}
        for _, mentions in self._every:
            for name, above in mentions.bases:
                self._bases.setdefault(name, set()).update(above)

    def unmentioned(
        self,
        listed: Collection[str],
        published: Collection[str] = (),
        elsewhere: frozenset[str] = frozenset(),
    ) -> Iterator[tuple[str, Defined]]:
        """Yield the functions and classes of the `listed` modules, and the private ones of the `published`,
        that nothing mentions, or only such ones and each other, each with its module's key; and the classes
        of the listed ones that no object is made of. `elsewhere` are the names that other files mention."""
        known = [
            (key, one)
            for key, one in self._known_by_name
            if one.name not in elsewhere and (key in listed or (key in published and _is_private(one.scope)))
        ]
        named = frozenset[str]().union(*(_always_named(mentions) for _, mentions in self._every))
        unused = {(key, one.scope): _references_to(key, one) for key, one in known}
        unmade = {(key, one.scope): one for key, one in self._unmade if key in listed}
        waiting = self._blocks
        runs = [True]
        while any(runs):
            unused = {place: names for place, names in unused.items() if named.isdisjoint(names)}
            stopped = unused.keys() | unmade.keys()
            runs = [stopped.isdisjoint(places) for places, _ in waiting]
            named = frozenset[str]().union(*(block.names for _, block in compress(waiting, runs)))
            waiting = list(compress(waiting, map(not_, runs)))
        yield from ((key, one) for key, one in known if (key, one.scope) in unused.keys() - unmade.keys())
        yield from ((key, one) for (key, _), one in unmade.items())

    def unreached(
        self, named: frozenset[str] = frozenset(), idle: Iterable[_Place] = ()
    ) -> Mapping[_Place, str]:
        """Return by module and scope the functions and classes that only code mentions which never runs, and
        the test that keeps it from running; `named` are mentioned elsewhere, and what is `idle` nothing
        mentions."""
        found: dict[_Place, str] = {}
        if not any(self._off):
            return found
        known = [(key, one) for key, one in self._known_by_name if one.name not in named]
        kept_off = {i for i, why in enumerate(self._off) if why}
        never = {i for place in idle for i in self._inside.get(place, ())}
        while True:
            kept: dict[str, str] = {}
            for i in sorted(kept_off):
                places, block = self._blocks[i]
                kept.update(dict.fromkeys(block.names, self._off[i] or _around(places, found)))
            now = {
                (key, one.scope): next(kept[name] for name in names if name in kept)
                for key, one in known
                if not kept.keys().isdisjoint(names := _references_to(key, one))
                and all(kept_off.issuperset(set(self._users[name]) - never) for name in names)
            }
            if now.keys() <= found.keys():
                return found
            kept_off.update(i for place in now.keys() - found.keys() for i in self._inside.get(place, ()))
            found = {**now, **found}

    @cached_property
    def _given(self) -> Set[str]:
        """The names that lead only to packages which do not look for classes derived from theirs."""
        quiet, others = set[str](), set[str]()
        for names in (block.names for _, mentions in self._every for block in mentions.blocks):
            for path in (name.removeprefix(IMPORTED) for name in names if name.startswith(IMPORTED)):
                is_quiet = path.partition(".")[0] in table.names("modules", "given-of")
                (quiet if is_quiet else others).add(_last(path))
        return quiet - others

    @cached_property
    def _unmade(self) -> list[tuple[str, Defined]]:
        """The classes whose constructors always raise, and that no class derives from."""
        above = frozenset[str]().union(*self._bases.values())
        return [(k, one) for k, mentions in self._every for one in mentions.unmade if one.name not in above]

    @cached_property
    def _blocks(self) -> list[tuple[tuple[_Place, ...], Block]]:
        """The blocks of all modules, each with the scopes that it lies in."""
        found = []
        for key, mentions in self._every:
            known: dict[str, tuple[_Place, ...]] = {}
            for block in mentions.blocks:
                if block.scope not in known:
                    known[block.scope] = tuple(_places(key, block.scope))
                names = self._referring.resolved(block.names, key)
                found.append((known[block.scope], block._replace(names=names)))
        found += ((((key, ""),), block) for key, block in self._picks.blocks)
        return found

    @cached_property
    def _choices(self) -> Choices:
        """The tables of the program; a text says nothing of a look-up where it is the name of what other code
        mentions as well."""
        mine = self._blocks[: len(self._blocks) - len(self._picks.blocks)]
        direct = frozenset[str]().union(*(block.names for _, block in mine))
        picked = ((key, block, direct.isdisjoint(block.names)) for key, block in self._picks.blocks)
        return self._choices_in(
            [(key, one, alone) for key, block, alone in picked for one, _ in block.conditions]
        )

    def _modules_searched(self, is_own: Callable[[str], bool]) -> Iterator[str]:
        """Yield the files of the modules that are used as objects, or that names are looked up in; of those
        that are not found the last names."""
        for key, mentions in self._every:
            names = frozenset[str]().union(*(block.names for block in mentions.blocks))
            yield from self._referring.modules_in(names, key)
            for where in (mentions.searched | self._picks.unfound.get(key, frozenset())) - {HERE}:
                found = tuple(self._referring.modules_in({IMPORTED + where}, key))
                if not found and is_own(where.partition(".")[0]):
                    yield _last(where)
                yield from found

    @cached_property
    def _inside(self) -> Mapping[_Place, list[int]]:
        """The blocks, by their numbers, that lie in each scope."""
        found: dict[_Place, list[int]] = {}
        for i, (places, _) in enumerate(self._blocks):
            for place in places:
                found.setdefault(place, []).append(i)
        return found

    @cached_property
    def _users(self) -> Mapping[str, list[int]]:
        """The blocks, by their numbers, with each reference to a function or class."""
        found: dict[str, list[int]] = {
            name: [] for key, one in self._known_by_name for name in _references_to(key, one)
        }
        for i, (_, block) in enumerate(self._blocks):
            for name in found.keys() & block.names:
                found[name].append(i)
        return found

    @cached_property
    def _off(self) -> list[str]:
        """Why each of the blocks never runs by its own conditions."""
        return [
            self._is_off(key := places[0][0], block.conditions)
            or (self._chooses and self._choices.out(key, block.conditions))
            or ""
            for places, block in self._blocks
        ]

    @cached_property
    def _known_by_name(self) -> list[tuple[str, Defined]]:
        """The functions and classes that only a mention of their name can run."""
        return [(key, one) for key, mentions in self._every for one in self._known_in(key, mentions)]

    def _known_in(self, key: str, mentions: Mentions) -> Iterator[Defined]:
        for one in mentions.defined:
            looked_up = one.name.startswith(self._ends) or one.name.endswith(self._ends)
            searchable = not one.owner and self._is_offered(key, one.name)
            if not looked_up and not searchable and self._is_run_by_name(one):
                yield one

    def _is_offered(self, key: str, name: str) -> bool:
        """Return whether names are looked up in a module, or in one that imports the name from it."""
        return key in self._open or name in self._offered or UNFOUND in self._open

    def _is_run_by_name(self, one: Defined) -> bool:
        """Return whether who uses a function, method or class has to name it. Torch calls the methods of a
        class derived from its `Function`, but has to be given the class, as trainers have; other libraries
        may load a class that only their command line names."""
        known = table.names("modules", "above")
        if not one.owner and not self._finds_classes:
            known = known | table.names("modules", "given") | self._given
            known |= table.names("modules", "trained") if self._trains_given else frozenset()
        return self._are_own(one.owner or one.name, known, set(), one.name if one.owner else "")

    def _are_own(self, owner: str, known: Set[str], seen: set[str], method: str) -> bool:
        """Return whether a class derives from the project's classes, from `known` ones and from those that
        do not call a `method` of that name ("" none) alone."""
        if not owner or owner in seen:
            return True
        seen.add(owner)
        return all(
            base in known
            or (
                self._are_own(base, known, seen, method)
                if base in self._bases
                else table.leaves_alone(base, method)
            )
            for base in self._bases.get(owner, ())
        )


def _is_private(scope: str) -> bool:
    return any(part.startswith("_") for part in scope.split("."))


def _references_to(key: str, one: Defined) -> tuple[str, ...]:
    """Return the resolved references that may mean a function, method or class. A text of one word means only
    what an object or a registry holds: nothing looks up names in the modules of the others."""
    first = one.name, ATTRIBUTE + one.name if one.owner else defined_in(key, one.name)
    return (*first, TEXT + one.name) if one.owner or one.registered else first


def _module(key: str) -> str:
    """Return the last name of a module, from its file."""
    path = PurePosixPath(key)
    return path.parent.name if path.stem == "__init__" else path.stem


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _finds_classes(mentions: Mentions) -> bool:
    """Return whether a module learns of classes that derive from one of its own: `Base.__subclasses__()`."""
    for block in mentions.blocks:
        if f"{ATTRIBUTE}__subclasses__" in block.names or "__init_subclass__" in block.scope:
            return True
    return any(base.endswith("Meta") and base != "ABCMeta" for _, above in mentions.bases for base in above)


def _trains_given(every: Collection[Mentions]) -> bool:
    """Return whether a program gives trainers its models, and no command line finds them."""
    names = {_last(name) for mentions in every for block in mentions.blocks for name in block.names}
    names.update(*(mentions.imported for mentions in every))
    by_command = table.names("modules", "command-lines")
    return not names.isdisjoint(table.names("modules", "trainers")) and names.isdisjoint(by_command)


def _always_named(mentions: Mentions) -> frozenset[str]:
    """Return the names in texts that something is compared with, and where a module looks up names of its
    own, what it imports."""
    return mentions.compared | mentions.imported if HERE in mentions.searched else mentions.compared


def _places(key: str, scope: str) -> Iterator[_Place]:
    """Yield a scope and those around it, the outermost first."""
    parts = scope.split(".")
    return ((key, ".".join(parts[: i + 1])) for i in range(len(parts)))


def _around(places: Iterable[_Place], found: Mapping[_Place, str]) -> str:
    """Return why one of the functions and classes that a block lies in never runs; "" if all may."""
    if found:
        for place in places:
            if place in found:
                return found[place]
    return ""
