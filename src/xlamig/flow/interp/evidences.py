"""The evidence of the functions and classes of a module, collected once for each."""

from __future__ import annotations

from typing import Literal

from xlamig import ir
from xlamig.flow.model.evidence import Evidence
from xlamig.flow.model.scopes import Scope, ScopeTable
from xlamig.flow.model.site import Analysis


class Evidences:
    """`kept` is of earlier analyses, by the identity of the node."""

    def __init__(self, analysis: Analysis, scopes: ScopeTable) -> None:
        self.analysis, self.scopes = analysis, scopes
        self.kept: dict[int, Evidence] = {}
        self._found: dict[int, Evidence] = {}

    def of(self, scope: Scope) -> Evidence:
        """Return what the uses in a function prove, and those in all methods of its class; of the names bound
        outside of functions, those in the module itself."""
        parent = scope.parent
        around = parent if scope.kind == "function" and parent and parent.kind == "class" else scope
        known = self._found.get(id(around.node))
        if known is None:
            kept = self.kept.get(id(around.node))
            known = (
                kept if kept is not None and kept.holds_for(self.analysis.names) else self._collect(around)
            )
            self._found[id(around.node)] = self.kept[id(around.node)] = known
        return known

    def kind_of(self, path: str, scope: Scope) -> Literal["", "tensor", "other"]:
        """Return what the uses of an attribute prove it to be: a tensor, or something that is and holds
        none."""
        evidence = self.of(scope)
        if evidence.proof(path) is not None:
            return "tensor"
        return "other" if evidence.refutes(path) else ""

    def _collect(self, around: Scope) -> Evidence:
        found = Evidence(self.analysis.names)
        for node in around.node.body if isinstance(around.node, ir.ClassDef) else ():
            if isinstance(node, ir.FunctionDef):
                found.add(node.body, node.params, self.scopes.of(node))
        if isinstance(around.node, ir.FunctionDef):
            found.add(around.node.body, around.node.params, around)
        elif around.node is None:
            found.add(self.analysis.module.body, (), around)
        found.settle()
        return found
