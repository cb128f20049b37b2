"""Read which functions a module calls under tests for CUDA alone, and which it hands on as values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xlamig import ir
from xlamig.flow.model.callers import BODY
from xlamig.flow.model.cuda_callers import NO_CUDA_CALLS, CudaCalls
from xlamig.flow.model.cuda_paths import CudaPaths
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis

Called = Callable[[ir.Expr, Scope, ir.ClassDef | None], Iterable[str]]
"""Gives the names of what an expression calls, as in the calls of a module (see callgraph)."""


def cuda_calls_of(scopes: ScopeTable, analysis: Analysis, called: Called) -> CudaCalls:
    """Return what the functions and methods of a module call under tests for CUDA."""
    if "cuda" not in analysis.text.lower():
        return NO_CUDA_CALLS
    return _Module(scopes, CudaPaths(Guards(analysis), availability=False), called).read(analysis.module)


class _Module:
    def __init__(self, scopes: ScopeTable, paths: CudaPaths, called: Called) -> None:
        self.scopes, self.paths, self.called = scopes, paths, called
        self.values: set[str] = set()

    def read(self, module: ir.Module) -> CudaCalls:
        found = [
            (name, called, test)
            for name, body, scope, owner in self._bodies(module)
            for called, test in self._guarded(body, scope, owner).items()
        ]
        functions = (name for name in self.values if not name.rpartition(".")[2][:1].isupper())
        return CudaCalls(tuple(sorted(found)), tuple(sorted(functions)))

    def _bodies(
        self, module: ir.Module
    ) -> Iterator[tuple[str, Sequence[ir.Stmt], Scope, ir.ClassDef | None]]:
        """Yield the functions, the methods, and the other statements of the module."""
        rest: list[ir.Stmt] = []
        for node in module.body:
            if isinstance(node, ir.FunctionDef):
                yield node.name, node.body, self.scopes.of(node), None
            elif isinstance(node, ir.ClassDef):
                for part in node.body:
                    if isinstance(part, ir.FunctionDef):
                        yield f"{node.name}.{part.name}", part.body, self.scopes.of(part), node
            else:
                rest.append(node)
        yield BODY, rest, self.scopes.module, None

    def _guarded(self, body: Sequence[ir.Stmt], scope: Scope, owner: ir.ClassDef | None) -> dict[str, str]:
        """Return what a body calls under such a test alone, with the first of these tests."""
        guarded: dict[str, str] = {}
        others: set[str] = set()
        for name, under in self._calls(body, scope, owner, ""):
            if under:
                guarded.setdefault(name, under)
            else:
                others.add(name)
        return {name: under for name, under in guarded.items() if name not in others}

    def _calls(
        self, body: Sequence[ir.Stmt], scope: Scope, owner: ir.ClassDef | None, under: str
    ) -> Iterator[tuple[str, str]]:
        for node, test in self.paths.block(body, scope, under):
            if isinstance(node, ir.FunctionDef | ir.ClassDef):
                yield from self._calls(node.body, self.scopes.of(node), owner, test)
            else:
                yield from self._in_parts(node, scope, owner, test)

    def _in_parts(
        self, node: ir.Node, scope: Scope, owner: ir.ClassDef | None, under: str
    ) -> Iterator[tuple[str, str]]:
        functions: set[int] = set()
        for part, test in self.paths.parts(node, scope, under):
            if isinstance(part, ir.Call):
                functions.update(id(inner) for inner in ir.walk(part.func))
                yield from ((name, test) for name in self.called(part.func, scope, owner))
            elif isinstance(part, ir.Name | ir.Attribute) and id(part) not in functions and path_of(part):
                self.values.update(self.called(part, scope, owner))
