"""Tests of what torch has, and of Python, decided for the release that xlamig migrates to and later ones."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.local_values import LocalBindings, only_result
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.versions import holds_on_python, holds_on_torch
from xlamig.flow.model.words import settings_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_LONGEST = 100  # characters of the value of a name for a version
_MAX_DEPTH = 4
_TESTS = frozenset({"is_torch_version", "startswith"})


class TorchTests:
    """Decides the tests of one module, also by names that stand for them."""

    def __init__(self, names: Names, text: str) -> None:
        self._names = names
        self._text = text
        self._local = LocalBindings()

    def holds(self, test: ir.Expr, scope: Scope, depth: int = 0) -> bool | None:
        """Return the outcome of a test that the release of torch or Python alone decides; None for another.

        `hasattr(torch, "compile")`, `version.parse(torch.__version__) < version.parse("2.0")`, `self.flash`
        after `self.flash = hasattr(F, "scaled_dot_product_attention")`
        """
        if depth > _MAX_DEPTH:
            return None
        match test:
            case ir.Unary(op="not", operand=operand):
                inner = self.holds(operand, scope, depth + 1)
                return None if inner is None else not inner
            case ir.Bool(op=op, values=values):
                found = [self.holds(value, scope, depth + 1) for value in values]
                decides = op == "or"
                return decides if decides in found else None if None in found else not decides
            case ir.Call(func=ir.Name(id="hasattr"), args=(owner, ir.Arg(value=ir.Const(value=str(name))))):
                return self._has(owner.value, name, scope)
            case ir.Call(func=func) if path_of(func).rpartition(".")[2] not in _TESTS:
                returned = only_result(test, scope)
                return None if returned is None else self.holds(*returned, depth + 1)
            case ir.Compare() | ir.Call():
                return self._on_every_release(test, scope)
            case ir.Name() | ir.Attribute():
                return self._named(test, scope, depth)
        return None

    def _has(self, owner: ir.Expr, name: str, scope: Scope) -> bool | None:
        """Return whether torch, or a module or class of it, has a name."""
        dotted = self._names.dotted(owner, scope) or ""
        if dotted.partition(".")[0] != "torch":
            return None
        if signatures.is_in_torch(f"{dotted}.{name}".replace("torch.Tensor.", "Tensor.")):
            return True
        return False if name in table.names("torch", "removed") else None

    def _on_every_release(self, test: ir.Expr, scope: Scope) -> bool | None:
        text = self._with_version(test, scope)
        if (on_python := holds_on_python(text)) is not None:
            return on_python
        found = holds_on_torch(text)
        return found if found is not None and found == holds_on_torch(text, later=True) else None

    def _with_version(self, test: ir.Expr, scope: Scope) -> str:
        """Return the source of a test; of one that compares a name for a version, with what the name stands
        for: `TORCH < parse("2.0")` after `TORCH = parse(torch.__version__)`."""
        left = test.left if isinstance(test, ir.Compare) else None
        bindings = scope.lookup(left.id) if isinstance(left, ir.Name) else []
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None
        version = self._text[value.start : value.end] if value is not None else ""
        if left is None or ".__version__" not in version or len(version) > _LONGEST:
            return self._text[test.start : test.end]
        return version + self._text[left.end : test.end]

    def _named(self, node: ir.Name | ir.Attribute, scope: Scope, depth: int) -> bool | None:
        """Return the outcome of the only test whose outcome a name stands for."""
        path = path_of(node)
        dotted = self._names.dotted(node, scope)
        for holds in (True, False):
            if dotted in table.names("python-tests", str(holds).lower()):
                return holds
        bindings = self._local.reaching(scope.find(path) if path else [], node, scope)
        if len(bindings) != 1 or bindings[0].kind != "value" or bindings[0].block:
            return None
        value = bindings[0].value
        own = isinstance(node, ir.Name) or settings_of(node.attr, self._text) == 1
        return self.holds(value, bindings[0].scope, depth + 1) if value is not None and own else None
