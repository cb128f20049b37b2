"""Resolve names: canonical dotted names through imports, aliases and re-exports."""

from __future__ import annotations

import builtins

from xlamig import ir
from xlamig.facts import Interest
from xlamig.flow.model.exports import Export
from xlamig.flow.model.local_values import only_result
from xlamig.flow.model.project import ProjectIndex
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import helpers
from xlamig.knowledge import values as table

_BUILTINS = frozenset(dir(builtins))
_MAX_ALIASES = 8
_FROM_PYTHON_2 = {"xrange": "range"}
_DOES_NOTHING = frozenset({"contextlib.nullcontext"})


class Names:
    """Resolves expressions of one module to canonical dotted names ("torch.cuda.synchronize")."""

    def __init__(self, interest: Interest, project: ProjectIndex, module: str) -> None:
        self.interest = interest
        self.project = project
        self.module = module
        self._cache: dict[tuple[Scope, str], str | None] = {}
        self._paths: dict[tuple[Scope, str], str | None] = {}
        self._canonical: dict[str, str] = {}

    def dotted(self, node: ir.Expr, scope: Scope) -> str | None:
        """The canonical name of `node`; None when it is not a known module's member."""
        path = path_of(node)
        if not path:
            return self._dotted(node, scope, 0)
        key = (scope, path)
        if key not in self._paths:
            self._paths[key] = self._dotted(node, scope, 0)
        return self._paths[key]

    def _dotted(self, node: ir.Expr, scope: Scope, depth: int) -> str | None:
        attributes: list[str] = []
        while isinstance(node, ir.Attribute):
            attributes.append(node.attr)
            node = node.value
        if isinstance(node, ir.Name):
            root = self._aliased_path(node.id, attributes, scope, depth)
            if root is None:
                root = self._name(node.id, scope, depth)
        elif isinstance(node, ir.Call):
            root = self._imported_by_call(node, scope)
        else:
            return None
        if root is None:
            return None
        for attribute in reversed(attributes):
            root = f"{root}.{attribute}"
        return self.canonical(root)

    def canonical(self, dotted: str) -> str:
        """Follow re-exports inside the project, then torch's own aliases."""
        found = self._canonical.get(dotted)
        if found is None:
            found = self._canonical[dotted] = helpers.meaning(dotted, self.interest.helper)
        if not found:
            export = self.project.resolve(dotted, self.module)
            name = export.value if export is not None and export.kind == "name" else dotted
            name = name if export is not None else _builtin(name) or name
            found = self._canonical[dotted] = self.interest.aliases.get(name, name)
        return found

    def export(self, node: ir.Expr, scope: Scope) -> Export | None:
        """The project's own definition behind `node`, if it has one in another module."""
        path = path_of(node)
        if not path:
            return None
        root, dot, rest = path.partition(".")
        bindings = scope.lookup(root)
        imported = next((binding.dotted for binding in bindings if binding.kind == "import"), None)
        owner = imported if bindings else self._from_star(root, scope)
        return None if owner is None else self.project.resolve(owner + dot + rest, self.module)

    def _name(self, name: str, scope: Scope, depth: int) -> str | None:
        key = (scope, name)
        if key not in self._cache:
            self._cache[key] = None  # an alias of itself means nothing
            self._cache[key] = self._resolve(name, scope, depth)
        return self._cache[key]

    def _resolve(self, name: str, scope: Scope, depth: int) -> str | None:
        bindings = scope.lookup(name)
        for binding in bindings:
            if binding.kind == "import":
                return binding.dotted
            if isinstance(binding.node, ir.FunctionDef):
                inline = helpers.inline_meaning(binding.node.name, ir.docstring(binding.node))
                if inline:
                    return inline
        if not bindings:
            return self._from_star(name, scope)
        if depth >= _MAX_ALIASES:
            return None
        found = (self._alternative(b.value, b.scope, depth) for b in bindings if b.kind == "value")
        aliased = [name for name in found if name is not None]
        return next((name for name in aliased if name not in _DOES_NOTHING), aliased[0] if aliased else None)

    def _alternative(self, value: ir.Expr | None, scope: Scope, depth: int) -> str | None:
        """Return what a name stands for; of `autocast if amp else nullcontext` the one that acts."""
        match value:
            case ir.Name() | ir.Attribute():
                return self._dotted(value, scope, depth + 1)
            case ir.Call():
                found = self._dotted(value, scope, depth + 1)
                return self._returned(value, scope, depth + 1) if found is None else found
            case ir.IfExp(body=body, orelse=orelse):
                names = [self._alternative(branch, scope, depth) for branch in (body, orelse)]
                acts = [name for name in names if name not in _DOES_NOTHING]
                return acts[0] if len(acts) == 1 else None
        return None

    def _returned(self, call: ir.Call, scope: Scope, depth: int) -> str | None:
        """Return what the result of a call stands for: of `pick(amp)` that returns `autocast`."""
        result = only_result(call, scope) if depth < _MAX_ALIASES else None
        if result is None or not isinstance(result[0], ir.Name | ir.Attribute | ir.IfExp):
            return None
        return self._alternative(*result, depth)

    def _aliased_path(self, name: str, attributes: list[str], scope: Scope, depth: int) -> str | None:
        """`backend.amp = torch.cuda.amp` binds the path, not a name. Attributes are innermost last."""
        if not attributes or depth >= _MAX_ALIASES:
            return None
        bindings = scope.find(f"{name}.{attributes[-1]}")
        if not bindings or not isinstance(bindings[0].value, ir.Name | ir.Attribute):
            return None
        root = self._dotted(bindings[0].value, bindings[0].scope, depth + 1)
        if root is not None:
            attributes.pop()
        return root

    def _from_star(self, name: str, scope: Scope) -> str | None:
        if name in _BUILTINS:
            return None
        for module in scope.module.stars:
            candidate = f"{module}.{name}"
            if self.project.resolve(candidate, self.module) is not None:
                return candidate
            canonical = self.interest.aliases.get(candidate, candidate)
            if self.interest.wants(canonical) or self._leads_somewhere(candidate):
                return candidate
        return None

    def _leads_somewhere(self, candidate: str) -> bool:
        prefix = f"{candidate}."
        return any(name.startswith(prefix) for name in self.interest.names)

    def _imported_by_call(self, node: ir.Call, scope: Scope) -> str | None:
        """`__import__("torch")` and `importlib.import_module("torch.cuda")`."""
        path = path_of(node.func)
        if path == "__import__" or path.rpartition(".")[2] == "import_module":
            first = node.args[0].value if node.args else None
            if isinstance(first, ir.Const) and isinstance(first.value, str):
                return first.value.partition(".")[0] if path == "__import__" else first.value
        return None


def _builtin(dotted: str) -> str:
    """Return the builtin that `six.moves.map` or `builtins.map` is; "" for other names."""
    module, _, name = dotted.rpartition(".")
    name = _FROM_PYTHON_2.get(name, name)
    return name if module in table.names("builtins", "modules") and name in _BUILTINS else ""
