"""Nodes that are looked up by their kind are those that a walk finds."""

from __future__ import annotations

import pytest

from xlamig import ir
from xlamig.flow.model.by_kind import calls_in, of_kind, owner_at_top
from xlamig.flow.model.scopes import path_of
from xlamig.syntax import module_from_text

TEXT = """\
a()
@b()
def f(x=c()):
    def g(): return d()
    return e(e2(), key=f"{e3()}")
@h()
class C: i()
j()
"""


def test_the_calls_of_a_function_include_its_decorators_and_no_neighbours() -> None:
    module = module_from_text(TEXT)
    functions = {function.name: function for function in of_kind(module, ir.FunctionDef)}
    found = {name: [path_of(call.func) for call in calls_in(module, f)] for name, f in functions.items()}
    assert found == {"f": ["b", "c", "d", "e", "e2", "e3"], "g": ["d"]}


@pytest.mark.parametrize(
    ("call", "owner"), [("a", ""), ("b", "f"), ("c", "f"), ("d", "f"), ("h", "C"), ("i", "C"), ("j", "")]
)
def test_a_decorator_belongs_to_what_it_decorates(call: str, owner: str) -> None:
    module = module_from_text(TEXT)
    (node,) = (node for node in of_kind(module, ir.Call) if path_of(node.func) == call)
    assert owner_at_top(module, node) == owner
