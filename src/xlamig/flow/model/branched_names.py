"""The definitions that reach a place of a function, while its branches are followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MANY = 16  # definitions of a name that are kept one by one


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Many definitions of one name that branches have joined. `number` is the group's hash, so that the order
    of a set with groups does not depend on the process."""

    number: int
    members: Definitions

    def __hash__(self) -> int:
        return self.number


Definitions = frozenset[int | Group]
"""Definitions of one name, each by the offset of the name where it is bound."""
Changes = dict[str, Definitions | None]
"""The names that a branch changed, with what reaches its end; None where nothing does."""

_NONE: Definitions = frozenset()


class BranchedNames:
    """Definitions by name. A branch notes what it changes, which is undone at its end: so it costs as much as
    it changes, however many names a function has."""

    def __init__(self) -> None:
        self.parameters: set[int] = set()  # definitions that are in no group
        self._groups = 0
        self._reaching: dict[str, Definitions] = {}
        self._open: list[Changes] = []  # of each branch, what the names that it changed had before

    def __contains__(self, name: str) -> bool:
        return name in self._reaching

    @property
    def depth(self) -> int:
        """Return the number of branches that have begun and not ended."""
        return len(self._open)

    def get(self, name: str) -> Definitions:
        """Return the definitions of a name."""
        return self._reaching.get(name, _NONE)

    def set(self, name: str, found: Definitions | None) -> None:
        """Replace the definitions of a name; with None nothing reaches it."""
        if self._open:
            self._open[-1].setdefault(name, self._reaching.get(name))
        self._put(name, found)

    def forget(self, names: Iterable[str]) -> None:
        """Let nothing reach these names."""
        for name in names:
            self.set(name, None)

    def _put(self, name: str, found: Definitions | None) -> None:
        if found is None:
            self._reaching.pop(name, None)
        else:
            self._reaching[name] = found

    # ------------------------------------------------------------------ branches

    def begin(self) -> None:
        """Begin a branch."""
        self._open.append({})

    def end(self) -> Changes:
        """Undo what the innermost branch changed; return what its names had at its end."""
        before = self._open.pop()
        after = {name: self._reaching.get(name) for name in before}
        for name, found in before.items():
            self._put(name, found)
        return after

    def end_all(self, depth: int) -> None:
        """End the branches that began after there were so many."""
        while len(self._open) > depth:
            self.end()

    def join(self, ends: Iterable[Changes | None]) -> None:
        """Go on after branches, None for those that leave; where all do, nothing reaches what follows."""
        alive = [end for end in ends if end is not None]
        for name in {name for end in alive for name in end} if alive else tuple(self._reaching):
            before = self._reaching.get(name)
            found = [known for end in alive if (known := end.get(name, before)) is not None]
            self.set(name, self._grouped(_NONE.union(*found)) if found else None)

    def _grouped(self, found: Definitions) -> Definitions:
        """Return many definitions as the parameters among them and a group of the others."""
        if len(found) <= _MANY:
            return found
        self._groups += 1
        return found & self.parameters | {Group(self._groups, found - self.parameters)}


def members(found: Iterable[int | str | Group], known: set[Group]) -> Iterator[int | str]:
    """Yield definitions, and those in the groups that are not known yet, which then are."""
    for one in found:
        if not isinstance(one, Group):
            yield one
            continue
        waiting = [one]
        while waiting:
            group = waiting.pop()
            if group in known:
                continue
            known.add(group)
            for member in group.members:
                if isinstance(member, Group):
                    waiting.append(member)
                else:
                    yield member
