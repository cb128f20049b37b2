"""Functions that only answer with something true for CUDA: `if x.device.type != "cuda": return False`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.cuda_paths import CudaPaths, Tests
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.scopes import Scope


class CudaAnswers:
    """Remembers what the functions of a module answer, by the identity of their definitions."""

    def __init__(self, guards: Tests) -> None:
        self._paths = CudaPaths(guards)
        self._known: dict[int, bool] = {}

    def holds_for_cuda_alone(self, test: ir.Expr, scope: Scope) -> bool:
        """Return whether a test is a call of a function that denies by an early exit, and gives something
        true under a test for CUDA alone."""
        found = function_behind(test, scope) if isinstance(test, ir.Call) else None
        if found is None:
            return False
        function, inner = found
        if id(function) not in self._known:
            self._known[id(function)] = False  # if it asks itself
            self._known[id(function)] = self._denies_others(function, inner)
        return self._known[id(function)]

    def _denies_others(self, function: ir.FunctionDef, scope: Scope) -> bool:
        answers = [
            (node.value, under)
            for node, under in self._paths.block(function.body, scope)
            if isinstance(node, ir.Return)
        ]
        denied = [value is None or _is_false(value) for value, _ in answers]
        if not any(denied) or all(denied):
            return False
        return all(
            no or bool(under or (value is not None and self._paths.asked(value, scope, True)))
            for no, (value, under) in zip(denied, answers, strict=True)
        )


def _is_false(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and not value.value
