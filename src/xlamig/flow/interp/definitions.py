"""Functions, classes and imports that a module defines."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.call_contexts import CallContexts
from xlamig.flow.interp.domain import AbstractValue, Mark
from xlamig.flow.interp.frames import ClassInfo, Frame
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import Binding, path_of


class Definitions:
    def __init__(self, state: State, entry: CallContexts) -> None:
        self.m = state
        self.call_contexts = entry
        self._classes: dict[int, ClassInfo] = {}

    def function_of(self, node: ir.FunctionDef) -> None:
        """Bind a function's name to it."""
        compiled = any(
            self.m.names.dotted(d.func if isinstance(d, ir.Call) else d, self.m.frame.scope)
            == "torch_xla.compile"
            for d in node.decorators
        )
        trait = Mark.COMPILED if compiled else None
        for param in node.params:
            if param.default is not None:
                self.m.semantics.evaluate(param.default)
        self.m.env[node.name] = AbstractValue(
            "function", ref=self.m.function(node, self.m.frame), trait=trait
        )
        self.call_contexts.found(node, self.m.frame)

    def imported(self, names: tuple[ir.Alias, ...]) -> None:
        """Imports are looked up by scope; one that something else may replace is a value like any other."""
        for alias in names:
            name = alias.asname or alias.name.partition(".")[0]
            bindings = self.m.frame.scope.bindings.get(name, ())
            if len(bindings) > 1 or self._is_of_outer(name):
                dotted = self._own_import(bindings) or self.m.names.dotted(
                    ir.Name(alias.start, alias.end, name), self.m.frame.scope
                )
                if dotted is not None:
                    self.m.env[name] = self.m.semantics.named(dotted)

    def _own_import(self, bindings: Sequence[Binding]) -> str | None:
        """Return what this statement imports where each of several imports a definition of the project: the
        branches of an `if` may import different ones."""
        project, module = self.m.names.project, self.m.names.module
        if not all(one.kind == "import" and project.locate(one.dotted, module) for one in bindings):
            return None
        here = (one.dotted for one in bindings if one.start == self.m.statement.start)
        return next(here, None)

    def _is_of_outer(self, name: str) -> bool:
        """Return whether a block around this one has a name too, which an import hides here."""
        frame = self.m.frame.parent
        while frame is not None and name not in frame.env:
            frame = frame.parent
        return frame is not None

    def class_of(self, node: ir.ClassDef) -> ClassInfo:
        """Return the class of a definition, which is read once."""
        known = self._classes.get(id(node))
        if known is None:
            known = self._classes[id(node)] = self._class(node)
        self.m.env[node.name] = AbstractValue("class", ref=known)
        return known

    def _class(self, node: ir.ClassDef) -> ClassInfo:
        scope = self.m.scopes.of(node)
        bases: list[ClassInfo] = []
        outside: set[str] = set()
        for arg in node.args:
            if arg.keyword is None:
                base = self.m.semantics.evaluate(arg.value)
                if isinstance(base.ref, ClassInfo) and base.kind == "class":
                    bases.append(base.ref)
                else:
                    outside.add(self.m.names.dotted(arg.value, self.m.frame.scope) or path_of(arg.value))
        is_module = any(b.is_module for b in bases) or self.m.regions.is_module(node, scope.parent or scope)
        info = ClassInfo(node, scope, self.m.frame, tuple(bases), frozenset(outside), is_module=is_module)
        self.m.program.classes.setdefault(info.last_word, []).append(info)
        inner = Frame(scope, self.m.frame, info)
        outer, self.m.frame = self.m.frame, inner
        for statement in node.body:
            if isinstance(statement, ir.FunctionDef):
                info.methods[statement.name] = statement
                self.call_contexts.found(statement, outer, info)
            elif not isinstance(statement, ir.ClassDef):
                self.m.semantics.block((statement,))
            else:
                self.class_of(statement)
        self.m.frame = outer
        info.attributes.update(inner.env)
        return info
