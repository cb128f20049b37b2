"""Classify the classes of a program: models or not, and whether they use torch."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Sequence

from xlamig.effort.tables import Globs, table
from xlamig.findings import FileReport, Part


class Classes:
    """The classes of some files, by the last part of their names."""

    def __init__(self, files: Sequence[FileReport]) -> None:
        classes = [(file, part) for file in files for part in file.parts if part.kind == "class"]
        self._own = {part.name: (file, part) for file, part in classes}
        self._above: dict[int, frozenset[str]] = {}
        self._mixins = {
            _last(base) for _, part in classes if self._inherits_model(part) for base in self.above(part)
        }

    def is_model(self, part: Part) -> bool:
        if part.kind != "class":
            return False
        if self._inherits_model(part):
            return True
        file = self._own[part.name][0]
        return part.name in self._mixins and self.uses_torch(file, part)

    def above(self, part: Part) -> frozenset[str]:
        """The names of all base classes; those of the program are followed."""
        if (known := self._above.get(id(part))) is not None:
            return known
        seen: set[str] = set()
        waiting = list(part.bases)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                if (found := self._own.get(_last(name))) is not None:
                    waiting.extend(found[1].bases)
        self._above[id(part)] = frozenset(seen)
        return self._above[id(part)]

    def uses_torch(self, file: FileReport, part: Part) -> bool:
        """Return whether it calls torch or something was found in it, or a base class of the program does."""
        if names_torch(part):
            return True
        inside = f"{part.name}."
        if any(one.scope == part.name or one.scope.startswith(inside) for one in file.findings):
            return True
        found = (self._own.get(_last(base)) for base in self.above(part))
        return any(one is not None and one[1] is not part and bool(one[1].calls) for one in found)

    def _inherits_model(self, part: Part) -> bool:
        words = table("stages")["module"]
        above = self.above(part)
        if fits(above, words["bases"]):
            return True
        return fits(part.members, words["methods"]) and any(map(self._is_unknown, above))

    def _is_unknown(self, base: str) -> bool:
        """Not of the program, nor of Python or torch."""
        first = base.partition(".")[0]
        known = first in sys.stdlib_module_names or first == "torch" or hasattr(builtins, base)
        return not known and _last(base) not in self._own


def names_torch(part: Part) -> bool:
    """Return whether a part calls torch, is decorated by it or inherits from it, as far as it says itself."""
    return bool(part.calls) or any(name.startswith("torch.") for name in (*part.decorators, *part.bases))


def fits(names: Iterable[str], globs: Globs) -> bool:
    """Return whether one of the names is one of the globs."""
    return bool(globs) and any(map(globs.pattern.fullmatch, map(str.lower, names)))


def _last(name: str) -> str:
    return name.rpartition(".")[2]
