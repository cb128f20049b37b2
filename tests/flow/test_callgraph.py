"""Functions that steps of other modules call."""

from __future__ import annotations

from textwrap import dedent

import pytest

from xlamig.engine.load import module_identity
from xlamig.flow import ProjectIndex, summary_of
from xlamig.syntax import module_from_text

HELPERS = """
import torch
def loss_of(x): return inner(x)
def inner(x): return x.sum()
def other(x): pass
class Mixin:
    def prepare(self, x): return self.pad(x)
    def pad(self, x): return x
class Box:
    def __init__(self, x): self.x = x
"""
LOOP = """
import torch, helpers
from helpers import loss_of, other, Mixin, Box
def train(loader, model, optimizer, step):
    {setup}
    for x in loader:
        {body}
        optimizer.step()
"""


def called(**files: str) -> list[str]:
    """Return the functions called in steps, as "helpers.f"."""
    interfaces = {}
    for stem, text in files.items():
        name, text = module_identity(f"{stem}.py"), dedent(text)
        interfaces[name] = summary_of(module_from_text(text), text, name, False).interface
    found = ProjectIndex(interfaces).called_in_steps
    return sorted(f"{module}.{name}" for module, names in found.items() for name in names)


def from_loop(body: str, setup: str = "pass") -> list[str]:
    found = called(helpers=HELPERS, train=LOOP.format(body=body, setup=setup))
    return [name for name in found if name.startswith("helpers")]


@pytest.mark.parametrize(
    ("body", "setup"),
    [
        ("pass", "loss_of(loader)"),  # before the loop
        ("if step % 10 == 0: other(x)", "pass"),
        ("if rank == 0: other(x)", "pass"),
        ("if x is None: raise ValueError(other(x))", "pass"),
        ("if self.table is None: self.table = other(x)", "pass"),
        ("later = loss_of", "pass"),
        ("loss_of(x)", "def loss_of(x): return x"),  # hidden by another
        ("model.prepare(x)", "pass"),
    ],
)
def test_not_in_each_step(body: str, setup: str) -> None:
    assert from_loop(body, setup) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("loss_of(x)", ["helpers.inner", "helpers.loss_of"]),
        ("helpers.loss_of(x).backward()", ["helpers.inner", "helpers.loss_of"]),
        ("print(model(other(x)))", ["helpers.other"]),
        ("if x.sum() > 0: other(x)", ["helpers.other"]),
        ("Box(x)", ["helpers.Box.__init__"]),
    ],
)
def test_in_each_step(body: str, expected: list[str]) -> None:
    assert from_loop(body) == expected


def test_through_a_module_between() -> None:
    between = "import torch\nfrom helpers import other as o\ndef middle(x): o(x)"
    train = LOOP.format(body="between.middle(x)", setup="import between")
    found = called(helpers=HELPERS, between=between, train=train)
    assert "helpers.other" in found


def test_a_forward_pass_calls_what_it_inherits() -> None:
    model = """
    import torch
    from torch import nn
    from helpers import Mixin
    class Net(nn.Module, Mixin):
        def forward(self, x): return self.prepare(x)
    """
    found = called(helpers=HELPERS, model=model)
    assert found == ["helpers.Mixin.pad", "helpers.Mixin.prepare", "model.Net.forward"]


def test_functions_that_call_each_other_end() -> None:
    a = "import torch, b\ndef f(x): b.g(x)"
    b = "import torch, a\ndef g(x): a.f(x)"
    train = LOOP.format(body="a.f(x)", setup="import a")
    assert {"a.f", "b.g"} <= set(called(a=a, b=b, helpers=HELPERS, train=train))
