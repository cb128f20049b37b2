"""The table of rules that speak of what a trace shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig.observations import Event, EventKind
from xlamig.observe import explain

FIXTURES = Path(__file__).parents[2] / "fixtures"


def event(kind: EventKind, via: str, *operators: str) -> Event:
    return Event(kind, via, None, "step", 1, 0, 1, 1, 0, 0.0, 0.0, 1, operators=operators)


def rule_of(kind: EventKind, via: str, *operators: str) -> str:
    return explain._event(event(kind, via, *operators)).rule


@pytest.mark.parametrize("kind", ["step-boundary", "transfer", "recompile"])
def test_what_costs_nothing_or_has_no_line_has_no_rule(kind: EventKind) -> None:
    assert rule_of(kind, "") == ""


@pytest.mark.parametrize(
    ("kind", "via", "rule"),
    [
        ("host-read", "item", "XLA101"),
        ("host-read", "call", "XLA111"),
        ("dynamic-shape", "mask-read", "XLA202"),
        ("dynamic-shape", "nonzero", "XLA201"),
        ("changing-constant", "argument", "XLA301"),
        ("operator", "fallback", "XLA501"),
    ],
)
def test_rule(kind: EventKind, via: str, rule: str) -> None:
    assert rule_of(kind, via) == rule


def test_operators_of_torchvision_have_a_rule_of_their_own() -> None:
    assert rule_of("operator", "fallback", "torchvision::nms") == "XLA208"


@pytest.mark.parametrize(("text", "rule", "advice"), explain.table().exceptions)
def test_an_exception_is_one_that_a_fixture_of_its_rule_raises(text: str, rule: str, advice: str) -> None:
    programs = (FIXTURES / rule).rglob("bad.py")
    claims = [
        line for path in programs for line in path.read_text().splitlines() if line.startswith("# raises")
    ]
    assert any(text in claim for claim in claims)
