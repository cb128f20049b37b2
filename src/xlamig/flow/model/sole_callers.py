"""Find the functions that one other function calls, and nothing else in the module."""

from __future__ import annotations

from collections.abc import Container, Iterable

from xlamig import ir
from xlamig.flow.model.scopes import Scope
from xlamig.flow.model.words import places_of

_MAX_SIMILAR = 8  # occurrences of a name, also inside longer ones: more are not counted one by one
_MAX_CALLERS = 4


class SoleCallers:
    """Finds callers by name: a function is known by the names of the functions that it is a part of.

    `called_elsewhere` are the functions that steps of other modules call. Other callers there, and those
    that get a function as a value, are not known.
    """

    def __init__(self, scopes: Iterable[Scope], text: str, called_elsewhere: Container[str] = ()) -> None:
        self._called_elsewhere = called_elsewhere
        self._functions = {
            scope.name: scope.node for scope in scopes if isinstance(scope.node, ir.FunctionDef)
        }
        self._text = text
        self._known: dict[str, str] = {}

    def of(self, function: str) -> tuple[str, ...]:
        """Return the function whose body alone names this one, that one's only caller, and so on."""
        found = [function]
        while len(found) <= _MAX_CALLERS and (caller := self._caller(found[-1])) and caller not in found:
            found.append(caller)
        return tuple(found[1:])

    def _caller(self, function: str) -> str:
        if function not in self._known:
            self._known[function] = self._find(function)
        return self._known[function]

    def _find(self, function: str) -> str:
        node = self._functions.get(function)
        if node is None or function in self._called_elsewhere or self._text.count(node.name) > _MAX_SIMILAR:
            return ""
        uses = list(places_of(node.name, self._text))
        outside = [at for at in uses if not node.start <= at < node.end]
        if len(uses) != 2 or len(outside) != 1 or not self._text.startswith(f"{node.name}(", outside[0]):
            return ""
        around = (name for name, one in self._functions.items() if one.start <= outside[0] < one.end)
        return max(around, key=lambda name: self._functions[name].start, default="")
