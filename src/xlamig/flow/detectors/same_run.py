"""Find the files that a run loads after it has written them: the best checkpoint, at the end of training."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.by_kind import calls_in, function_around, of_kind, scope_around
from xlamig.flow.model.file_writers import (
    LOADS_ALONE,
    SAVED_FIRST,
    Writer,
    comes_before,
    habits_of,
    writers,
)
from xlamig.flow.model.only_calls import arguments, calls_named
from xlamig.flow.model.saved_paths import file_argument, file_name, only_value, opened
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis

_CALLED = "__call__"


class _Place(NamedTuple):
    """A call that loads a file, itself or through a function, or a `return` of its path; `text` is the path
    where that stands, "" where it cannot be written there, `name` that of the file if it is constant."""

    node: ir.Node
    text: str
    name: str


class SameRun:
    """Says of what a module loads whether a run has saved it before; `saves` are the calls of the module."""

    def __init__(
        self,
        scopes: ScopeTable,
        analysis: Analysis,
        saves: Sequence[ir.Call],
        called_elsewhere: Collection[str],
    ) -> None:
        self.scopes, self.analysis, self.saves = scopes, analysis, saves
        self.called_elsewhere = called_elsewhere
        self._module = analysis.module
        self._are_saves = frozenset(saves)

    def writes(self, load: ir.Call, path: ir.Expr) -> bool:
        """Return whether each run that comes to a load has written its file by then."""
        places = list(self._places(load, path))
        if places and all(map(self._is_written, places)):
            return True
        return self._is_returned(load, path) or self._comes_in_pair(load, path)

    def _places(self, load: ir.Call, path: ir.Expr) -> Iterator[_Place]:
        """Yield the load; where nothing in its function has written the file, all calls of that function."""
        scope = self._scope(load)
        path = opened(path, ir.path_down(scope.node or self._module, load))
        own = _Place(load, self._text(path), file_name(path, scope))
        calls = [] if self._is_written(own) else self._calls(scope)
        if not calls:
            yield own
        for call in calls:
            yield _Place(call, self._text_outside(path, scope, call), own.name)

    def _calls(self, scope: Scope) -> list[ir.Call]:
        """Return all calls of a function at the top of the module that only the module calls."""
        function = scope.node
        if not isinstance(function, ir.FunctionDef) or scope.parent is not scope.module:
            return []
        bound = scope.module.bindings.get(function.name, [])
        if len(bound) != 1 or function.name in self.called_elsewhere:
            return []
        return [
            call
            for call in calls_named(self._module, function.name)
            if isinstance(call.func, ir.Name) and function_around(self._module, call) is not function
        ]

    def _text_outside(self, path: ir.Expr, scope: Scope, call: ir.Call) -> str:
        """Return how the caller writes a path of a function: its argument, or a name of the module."""
        names = {part.id for part in ir.walk(path) if isinstance(part, ir.Name)}
        if names.isdisjoint(scope.bindings):
            return self._text(path)
        if not isinstance(path, ir.Name) or not isinstance(scope.node, ir.FunctionDef):
            return ""
        given = arguments(call, scope.node).get(path.id)
        return self._text(given) if given is not None and len(scope.bindings[path.id]) == 1 else ""

    # ------------------------------------------------------------------ what is written before

    def _is_written(self, place: _Place) -> bool:
        """Return whether code above in the same function has written a file."""
        around = function_around(self._module, place.node)
        top = around or self._module
        for call in of_kind(self._module, ir.Call) if around is None else calls_in(self._module, around):
            before = call.end <= place.node.start and function_around(self._module, call) is around
            if before and self._is_written_by(place, call, top) and comes_before(top, call, place.node):
                return True
        return False

    def _is_written_by(self, place: _Place, call: ir.Call, top: ir.Node) -> bool:
        """Return whether a call writes a file."""
        if call in self._are_saves:
            written = file_argument(call, 1)
            if written is None or not place.text:
                return False
            return place.text == self._text(opened(written, ir.path_down(top, call)))
        return any(self._is_of(place, one, made) for one, made in self._writers_called(call))

    def _is_of(self, place: _Place, writer: Writer, made: ir.Call) -> bool:
        """Return whether a writer that gets the arguments of a call writes a file."""
        given = next((arg.value for arg in made.args if arg.keyword == writer.parameter), None)
        plain = [arg.value for arg in made.args if arg.keyword is None and not arg.star]
        if given is None and writer.parameter and 0 <= writer.position < len(plain):
            given = plain[writer.position]
        if given is None:
            return bool(writer.file) and writer.file == place.name
        name = file_name(given, self._scope(made))
        return self._text(given) == (place.text or None) or (bool(name) and name == place.name)

    def _writers_called(self, call: ir.Call) -> Iterator[tuple[Writer, ir.Call]]:
        """Yield the writers that a call may run, with the call whose arguments they get."""
        path = path_of(call.func)
        for one in self._writers.get(path.rpartition(".")[2], ()):
            yield one, call
        for holder, method in ((path, _CALLED), path.rpartition(".")[::2]):
            if not holder or not any(name.endswith(f".{method}") for name in self._writers):
                continue
            bound = next((b for b in self._scope(call).find(holder) if isinstance(b.value, ir.Call)), None)
            if bound is not None and isinstance(bound.value, ir.Call):
                made = path_of(bound.value.func).rpartition(".")[2]
                for one in self._writers.get(f"{made}.{method}", ()):
                    yield one, bound.value

    @cached_property
    def _writers(self) -> dict[str, list[Writer]]:
        found: dict[str, list[Writer]] = {}
        told = (Writer.of(habit) for habit in self.analysis.elsewhere)
        own = writers(self._module, self.scopes)
        for one in (*own, *(one for one in told if one is not None)):
            found.setdefault(one.name, []).append(one)
        return found

    # ------------------------------------------------------------------ what functions hand over

    def _is_returned(self, load: ir.Call, path: ir.Expr) -> bool:
        """Return whether a path is what a function returns after it has saved there: `best = train(net)`."""
        bound = only_value(path, self._scope(load))
        if bound is None or not isinstance(bound.value, ir.Call):
            return False
        name = path_of(bound.value.func).rpartition(".")[2]
        made = [one for one in of_kind(self._module, ir.FunctionDef) if one.name == name]
        if len(made) != 1:
            return False
        returns = [part for part in ir.own_statements(made[0].body) if isinstance(part, ir.Return)]
        return bool(returns) and all(
            part.value is not None and self._is_written(_Place(part, self._text(part.value), ""))
            for part in returns
        )

    def _comes_in_pair(self, load: ir.Call, path: ir.Expr) -> bool:
        """Return whether the function that loads has a sister that saves there, which every caller of it has
        called before: `save_model(net, name)` in a loop, and `load_model(name)` below."""
        function = function_around(self._module, load)
        if function is None:
            return False
        habits = self._habits
        if f"{SAVED_FIRST}|{function.name}" not in habits or f"{LOADS_ALONE}|{function.name}" in habits:
            return False
        saver, save = self._savers.get(function.name.replace("load", "save"), (None, None))
        written = file_argument(save, 1) if save is not None else None
        if saver is None or written is None:
            return False
        here = self._written_out(path, self.scopes.of(function))
        return self._written_out(written, self.scopes.of(saver)) == here

    @cached_property
    def _habits(self) -> Set[str]:
        return {*self.analysis.elsewhere, *habits_of(self._module, self.scopes, self.analysis.text)}

    @cached_property
    def _savers(self) -> Mapping[str, tuple[ir.FunctionDef, ir.Call]]:
        """The functions that save by their names, each with the first of its saves."""
        found: dict[str, tuple[ir.FunctionDef, ir.Call]] = {}
        for save in self.saves:
            if (saver := function_around(self._module, save)) is not None:
                found.setdefault(saver.name, (saver, save))
        return found

    def _written_out(self, path: ir.Expr, scope: Scope) -> tuple[str, ...]:
        """Return a path, and what its function gives the names in it."""
        names = {part.id for part in ir.walk(path) if isinstance(part, ir.Name)}
        values = (
            bound.value for name in sorted(names) for bound in scope.bindings.get(name, ()) if bound.value
        )
        return (self._text(path), *map(self._text, values))

    def _text(self, node: ir.Expr) -> str:
        return self.analysis.in_one_line(node)

    def _scope(self, call: ir.Node) -> Scope:
        return scope_around(self._module, self.scopes, call)
