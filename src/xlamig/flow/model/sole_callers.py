"""Find the functions that one other function calls, and nothing else in the module."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property

from xlamig import ir
from xlamig.facts import Span
from xlamig.flow.model.scopes import Scope
from xlamig.flow.model.words import is_frequent

_MAX_SIMILAR = 8  # occurrences of a name, also inside longer ones: more are not counted one by one
_MAX_CALLERS = 4
_WORD = re.compile(r"\w+")


class SoleCallers:
    """Finds callers by name: a function is known by the names of the functions that it is a part of.

    `called_elsewhere` are the functions that other modules call. Who gets a function as a value there is not
    known.
    """

    def __init__(self, scopes: Iterable[Scope], text: str, called_elsewhere: Container[str] = ()) -> None:
        self._called_elsewhere = called_elsewhere
        self._functions = {
            scope.name: scope.node for scope in scopes if isinstance(scope.node, ir.FunctionDef)
        }
        self._text = text
        self._known: dict[str, tuple[Span, str] | None] = {}

    def of(self, function: str) -> tuple[str, ...]:
        """Return the function whose body alone names this one, that one's only caller, and so on."""
        return tuple(caller for _, caller in self.calls(function) if caller)

    def calls(self, function: str) -> list[tuple[Span, str]]:
        """Return where the callee of each of these calls stands, with the function that calls; "" for the
        last where the module itself does."""
        found: list[tuple[Span, str]] = []
        seen = {function}
        while len(found) < _MAX_CALLERS and (call := self._call(function)) and call[1] not in seen:
            found.append(call)
            function = call[1]
            seen.add(function)
        return found

    def _call(self, function: str) -> tuple[Span, str] | None:
        if function not in self._known:
            self._known[function] = self._find(function)
        return self._known[function]

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """The places where the text has the names of functions."""
        found: dict[str, list[int]] = {node.name: [] for node in self._functions.values()}
        for word in _WORD.finditer(self._text):
            if (places := found.get(word[0])) is not None:
                places.append(word.start())
        return found

    def _find(self, function: str) -> tuple[Span, str] | None:
        node = self._functions.get(function)
        uses = self._places.get(node.name, ()) if node is not None else ()
        if (
            node is None
            or function in self._called_elsewhere
            or len(uses) != 2
            or is_frequent(node.name, self._text, _MAX_SIMILAR)
        ):
            return None
        outside = [at for at in uses if not node.start <= at < node.end]
        if len(outside) != 1 or not self._text.startswith(f"{node.name}(", outside[0]):
            return None
        at = outside[0]
        around = (name for name, one in self._functions.items() if one.start <= at < one.end)
        caller = max(around, key=lambda name: self._functions[name].start, default="")
        return (at, at + len(node.name)), caller
