"""Results for the single statements of a module, kept for those that an edit leaves as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from xlamig import ir
from xlamig.flow.model.scopes import Binding, ScopeTable

Result = TypeVar("Result")
_SHORTEST = 200  # characters of a statement that is worth keeping
_Environment = dict[str, list[tuple[str, str, str]]]


class Kept(Generic[Result]):
    """The results of one pass for the last two texts of a module, by the text of the statement."""

    def __init__(self) -> None:
        self._now: dict[str, Result] = {}
        self._before: dict[str, Result] = {}

    def turn(self, same: bool) -> None:
        """Begin another text of the module; `same` says that the results hold for it."""
        self._now, self._before = {}, self._now if same else {}

    def of(self, text: str, find: Callable[[], Result]) -> Result:
        """Return the result for a statement with this text."""
        found = self._now.get(text)
        if found is None:
            found = self._before.get(text)
            self._now[text] = found = find() if found is None else found
        return found


class Pieces:
    """Results that depend on the text of a statement at the top of a module, and on what the module binds.
    Nothing is kept before `begin`."""

    def __init__(self) -> None:
        self._kept: dict[Callable[..., object], Kept[object]] = {}
        self._environment: _Environment | None = None
        self._begun = False

    def begin(self, scopes: ScopeTable) -> None:
        """Begin with the next text of the module."""
        now = _environment(scopes)
        for kept in self._kept.values():
            kept.turn(now is not None and now == self._environment)
        self._environment, self._begun = now, True

    def of(self, find: Callable[[ir.Stmt, ScopeTable], Result], node: ir.Stmt, scopes: ScopeTable) -> Result:
        """Return what a function finds out about a statement, without any position."""
        if not self._begun or node.end - node.start < _SHORTEST:
            return find(node, scopes)
        kept = self._kept.setdefault(find, Kept())
        return kept.of(_text_of(node, scopes.text), lambda: find(node, scopes))  # type: ignore[return-value]


def _text_of(node: ir.Stmt, text: str) -> str:
    decorators = node.decorators if isinstance(node, ir.FunctionDef | ir.ClassDef) else ()
    return text[min([node.start, *(decorator.start for decorator in decorators)]) : node.end]


def _environment(scopes: ScopeTable) -> _Environment | None:
    """Return what a module binds; None where its functions bind names of it, which may mean each other."""
    every = scopes.module.bindings
    if any(binding.scope.kind == "function" for bindings in every.values() for binding in bindings):
        return None
    return {name: [_meaning(binding, scopes.text) for binding in every[name]] for name in every}


def _meaning(binding: Binding, text: str) -> tuple[str, str, str]:
    value = binding.value
    return binding.kind, binding.dotted, text[value.start : value.end] if value is not None else ""
