"""The classes that an object of a class may be of."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig.flow.model.closure import closure


class Related:
    """The classes that objects of a class may be of, and those above them, from the bases `above` and the
    classes `derived` from each class."""

    def __init__(self, above: Mapping[str, set[str]], derived: Mapping[str, set[str]]) -> None:
        self._above, self._derived = above, derived
        self._found: dict[str, set[str]] = {}

    def __call__(self, owner: str) -> set[str]:
        if owner not in self._found:
            below = closure([owner], lambda name: self._derived.get(name, ()))
            self._found[owner] = closure(below, lambda name: self._above.get(name, ()))
        return self._found[owner]
