"""A function that one other calls is a part of that one."""

from __future__ import annotations

import pytest

from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.sole_callers import SoleCallers
from xlamig.syntax import module_from_text


def callers(text: str, function: str) -> tuple[str, ...]:
    scopes = ScopeTable(module_from_text(text), text, "m", False)
    return SoleCallers(scopes.functions(), text).of(function)


@pytest.mark.parametrize(
    "text",
    [
        "def f(): pass\n",
        "def f(): pass\nf()\n",  # the module calls it
        "def f(): pass\ndef g(): f()\ndef h(): f()\n",
        "def f(): pass\ndef g(): f() + f()\n",
        "def f(): pass\ndef g(): return f\n",  # whoever calls the result
        "def f(): f()\n",
        "def f(): pass\ndef g(): ff()\n",
    ],
)
def test_no_sole_caller(text: str) -> None:
    assert callers(text, "f") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(): pass\ndef g(): f()\n", ("g",)),
        ("def f(): pass\ndef g(): f()\ndef h(): g()\n", ("g", "h")),
        ("def f(): g()\ndef g(): f()\n", ("g",)),
        ("class C:\n def g(self): self.f()\n def f(self): pass\n", ("C.g",)),
    ],
)
def test_sole_callers_the_nearest_first(text: str, expected: tuple[str, ...]) -> None:
    name = "C.f" if "class" in text else "f"
    assert callers(text, name) == expected


def test_steps_of_another_module_are_callers() -> None:
    text = "def f(): pass\ndef g(): f()\ndef h(): g()\n"
    scopes = ScopeTable(module_from_text(text), text, "m", False)
    assert SoleCallers(scopes.functions(), text, {"g"}).of("f") == ("g",)
    assert SoleCallers(scopes.functions(), text, {"f"}).of("f") == ()
