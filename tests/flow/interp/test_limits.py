"""The statements of docs/limits.md: values that are followed, and values that are not."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .projects import facts_by_module

LIBRARY = dedent("""
    import torch
    from torch import nn

    REGISTRY = {}

    def register(cls):
        REGISTRY[cls.__name__] = cls
        return cls

    def describe(x):
        y = x * 2
        return y + 1

    class Keeper:
        def __init__(self, scale):
            self.scale = scale

        def show(self):
            return self.scale.item()

    @register
    class Net(nn.Module):
        def forward(self, x):
            y = x * 2
            if y.sum() > 0:
                y = -y
            return y
""")
PROGRAM = """
import importlib
import sys
import torch
import torch_xla
import elsewhere
from library import REGISTRY, Keeper, describe

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
MADE
for step in range(10):
    out = model(torch.ones(8, 4, device=device))
    LINE
    out.sum().backward()
    optimizer.step()
    torch_xla.sync()
"""


def told(line: str, module: str, made: str = "") -> list[str]:
    """Return kind and confidence of each fact about a module of the program."""
    program = PROGRAM.replace("LINE", line.replace("\n", "\n    ")).replace("MADE", made)
    found = facts_by_module({"library": LIBRARY, "program": program})[module]
    return [f"{fact.kind} {fact.confidence}" for fact in found if fact.kind != "step-boundary"]


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("float(describe(out).sum())", "program"),  # what a function of another file returns
        ("Keeper(out.sum()).show()", "library"),  # what an object of another file's class holds
    ],
)
def test_follows_values_through_other_files(line: str, module: str) -> None:
    assert "host-read certain" in told(line, module)


@pytest.mark.parametrize("name", ['"Net"', "sys.argv[1]"])
def test_follows_classes_of_a_registry(name: str) -> None:
    assert "host-read certain" in told("net(out)", "library", f"net = REGISTRY[{name}]().to(device)")


def test_does_not_follow_classes_that_are_imported_by_name() -> None:
    made = 'net = getattr(importlib.import_module("library"), "Net")().to(device)'
    assert "host-read certain" not in told("net(out)", "library", made)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("float(elsewhere.stats(out))", []),  # it may be a number
        ("value = elsewhere.stats(out)\nvalue.detach_()\nfloat(value)", ["host-read likely"]),
        ("print(elsewhere.stats(out).item())", ["host-read likely"]),
    ],
)
def test_a_result_of_a_library_is_a_tensor_by_its_uses(line: str, expected: list[str]) -> None:
    assert told(line, "program") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("out[:, :step]", ["changing-constant certain"]),
        ("out[out > 0]", ["dynamic-shape certain"]),
        (
            "if out.size(1) == 5:\n    out.mean().item()",
            ["host-read certain"],
        ),  # no test of a size is decided
        ('exec("out.sum().item()")', []),
    ],
)
def test_follows_what_changes_sizes_but_decides_no_size(line: str, expected: list[str]) -> None:
    assert told(line, "program") == expected
