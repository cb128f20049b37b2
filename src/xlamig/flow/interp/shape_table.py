"""The shape rules, by the names that `knowledge/data/results.json` uses."""

from __future__ import annotations

from collections.abc import Callable

from xlamig.flow.interp.domain.shapes import Shape
from xlamig.flow.interp.operands import Operands

Rule = Callable[[Operands], Shape]
RULES: dict[str, Rule] = {}


def rule(name: str) -> Callable[[Rule], Rule]:
    """Register a rule under the name that the table uses."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register
