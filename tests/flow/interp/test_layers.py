"""Calls of layers whose forward passes run what a rule knows."""

from __future__ import annotations

import pytest

from xlamig.facts import ApiUse, Interest
from xlamig.flow import facts_of, summary_of
from xlamig.syntax import module_from_text

from .said import IMPORTS

KNOWN = frozenset(
    {"torch.nn.Unfold", "torch.nn.utils.weight_norm", "torch.nn.utils.parametrizations.weight_norm"}
)
NET = """
from torch.nn.utils import weight_norm
from torch.nn.utils.parametrizations import weight_norm as parametrized

def normed(*args, **kwargs):
    return weight_norm(nn.Conv1d(*args, **kwargs))

class Net(nn.Module):
    def __init__(self, big):
        super().__init__()
        MADE

    def forward(self, x):
        CALLED
        return x
"""


def forwards(made: str, called: str) -> list[str]:
    """Name, confidence and frequency of what is said of calls of layers."""
    inner = [part.replace("\n", "\n        ") for part in (made, called)]
    whole = IMPORTS + NET.replace("MADE", inner[0]).replace("CALLED", inner[1])
    found = facts_of(module_from_text(whole), whole, "net", False, Interest(names=KNOWN), {}).facts
    uses = [fact for fact in found if isinstance(fact, ApiUse) and fact.via == "forward"]
    return [f"{use.name.rpartition('.')[2]} {use.confidence} {use.frequency}" for use in uses]


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("self.conv = nn.Conv1d(2, 2, 3)", "x = self.conv(x)"),
        ("self.conv = parametrized(nn.Conv1d(2, 2, 3), dim=None)", "x = self.conv(x)"),
        ("self.conv = weight_norm(nn.Conv1d(2, 2, 3))", "x = self.conv.weight + x"),
        ("self.unfold = nn.Unfold(2)", "x = nn.Unfold(2)(x)"),  # the class is called in sight
        ("self.parts = nn.Sequential(*[nn.ReLU(), nn.Conv1d(2, 2, 3)])", "x = self.parts(x)"),
        (
            "layers = []\nlayers.append(nn.Unfold(2))\nself.parts = nn.Sequential(*layers)",
            "x = self.parts.n + x",
        ),
        ("self.convs = nn.ModuleList([nn.Conv1d(2, 2, 3)])", "for conv in self.convs:\n    x = conv(x)"),
    ],
)
def test_other_layers(made: str, called: str) -> None:
    assert forwards(made, called) == []


@pytest.mark.parametrize(
    ("made", "called", "name"),
    [
        ("self.conv = weight_norm(nn.Conv1d(2, 2, 3))", "x = self.conv(x)", "weight_norm"),
        ("self.conv = parametrized(nn.Conv1d(2, 2, 3), dim=2)", "x = self.conv(x)", "weight_norm"),
        ("self.conv = normed(2, 2, kernel_size=1)", "x = self.conv(x)", "weight_norm"),
        ("self.unfold = nn.Unfold(2)", "x = self.unfold(x)", "Unfold"),
        ("self.unfold = nn.Unfold(2) if big else nn.Unfold(3)", "x = self.unfold(x)", "Unfold"),
        ("self.parts = nn.Sequential(nn.ReLU(), nn.Unfold(2))", "x = self.parts(x)", "Unfold"),
        (
            "layers = [nn.ReLU(), nn.Unfold(2)]\nself.parts = nn.Sequential(*layers)",
            "x = self.parts(x)",
            "Unfold",
        ),
        (
            "layers = []\nfor i in range(big):\n    layers.extend([nn.ReLU(), nn.Unfold(2)])\n"
            "layers.append(nn.Linear(2, 2))\nself.parts = nn.Sequential(*layers)",
            "x = self.parts(x)",
            "Unfold",
        ),
        (
            "layers = [nn.ReLU()]\nlayers += [weight_norm(nn.Conv1d(2, 2, 3))]\n"
            "self.parts = nn.Sequential(*layers)",
            "x = self.parts(x)",
            "weight_norm",
        ),
        ("self.parts = nn.Sequential(*[nn.Unfold(2) for i in range(big)])", "x = self.parts(x)", "Unfold"),
        (
            "self.a = nn.ModuleList([normed(2, 2, 3)])\nself.b = nn.ModuleList([nn.Conv1d(2, 2, 3)])",
            "for a, b in zip(self.a, self.b):\n    x = b(a(x))",
            "weight_norm",
        ),
        (
            "self.conv = nn.Conv1d(2, 2, 3)\n"
            "if big:\n    with extra:\n        self.conv = weight_norm(self.conv)\n"
            "elif extra:\n    raise ValueError\nelse:\n    self.conv = weight_norm(self.conv)",
            "x = self.conv(x)",
            "weight_norm",
        ),
        (
            "norm = weight_norm\nif big:\n    norm = parametrized\n"
            "self.conv = nn.Conv1d(2, 2, 3)\nself.conv = norm(self.conv, dim=2)",
            "x = self.conv(x)",
            "weight_norm",
        ),
    ],
)
def test_a_layer_that_is_called(made: str, called: str, name: str) -> None:
    assert set(forwards(made, called)) == {f"{name} likely step"}


def test_one_of_two_weights_is_possible() -> None:
    made = "if big:\n    self.conv = normed(2, 2, 3)\nelse:\n    self.conv = nn.Conv1d(2, 2, 3)"
    assert set(forwards(made, "x = self.conv(x)")) == {"weight_norm possible step"}


def test_a_weight_that_one_branch_normalises_is_possible() -> None:
    made = "self.conv = nn.Conv1d(2, 2, 3)\nif big:\n    self.conv = weight_norm(self.conv)"
    assert set(forwards(made, "x = self.conv(x)")) == {"weight_norm possible step"}


def test_one_of_two_layers_is_possible() -> None:
    made = "self.part = nn.Unfold(2) if big else nn.Conv2d(2, 2, 2)"
    assert set(forwards(made, "x = self.part(x)")) <= {"Unfold possible step"}


LAYERS = """
from torch import nn
from torch.nn.utils import weight_norm

def normed(*args, **kwargs):
    return weight_norm(nn.Conv1d(*args, **kwargs))

def plain(*args, **kwargs):
    return nn.Conv1d(*args, **kwargs)
"""
MODEL = """
from torch import nn
from layers import normed, plain

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = MADE(2, 2, kernel_size=1)

    def forward(self, x):
        return self.conv(x)
"""


@pytest.mark.parametrize(("made", "count"), [("plain", 0), ("normed", 1)])
def test_a_function_of_another_file_makes_the_layer(made: str, count: int) -> None:
    texts = {"layers": LAYERS, "model": MODEL.replace("MADE", made)}
    modules = {name: module_from_text(text) for name, text in texts.items()}
    interfaces = {
        name: summary_of(modules[name], text, name, False).interface for name, text in texts.items()
    }
    found = facts_of(
        modules["model"], texts["model"], "model", False, Interest(names=KNOWN), interfaces
    ).facts
    assert len([fact for fact in found if isinstance(fact, ApiUse) and fact.via == "forward"]) == count
