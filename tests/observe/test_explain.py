"""The table of rules that speak of what a trace shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlamig.observations import Event, EventKind, Failure, Frequency, Spot
from xlamig.observe import explain

FIXTURES = Path(__file__).parents[2] / "fixtures"


def event(kind: EventKind, via: str, *operators: str) -> Event:
    return Event(kind, via, None, "step", 1, 0, 1, 1, 0, 0.0, 0.0, 1, operators=operators)


def rule_of(kind: EventKind, via: str, *operators: str) -> str:
    return explain._event(event(kind, via, *operators)).rule


@pytest.mark.parametrize("kind", ["step-boundary", "transfer"])
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
        ("changing-shape", "input", "XLA904"),
        ("changing-shape", "batch", "XLA901"),
        ("changing-shape", "each", "XLA103"),
        ("changing-shape", "save", "XLA906"),
        ("changing-path", "branch", "XLA305"),
        ("recompile", "kept", "XLA305"),
        ("operator", "fallback", "XLA501"),
    ],
)
def test_rule(kind: EventKind, via: str, rule: str) -> None:
    assert rule_of(kind, via) == rule


def test_operators_of_torchvision_have_a_rule_of_their_own() -> None:
    assert rule_of("operator", "fallback", "torchvision::nms") == "XLA208"


@pytest.mark.parametrize("frequency", ["once", "warm-up"])
@pytest.mark.parametrize("kind", ["changing-path", "recompile"])
def test_another_graph_of_a_new_phase_is_nothing_to_change(kind: EventKind, frequency: Frequency) -> None:
    told = explain._event(replace(event(kind, "branch"), frequency=frequency))
    assert told.message.startswith("Nothing to change")


def test_every_recompilation_in_the_steps_has_advice() -> None:
    kinds: tuple[EventKind, ...] = ("changing-shape", "changing-constant", "changing-path", "recompile")
    assert all(explain._event(event(kind, "number")).message for kind in kinds)


def test_a_fallback_of_the_cpu_client_alone_needs_no_change() -> None:
    told = explain._event(replace(event("operator", "fallback", "aten::x"), client_only=True))
    assert (told.rule, told.message) == ("", explain.CLIENT_ONLY)


def test_an_exception_of_cuda_is_explained_by_the_line_that_raised_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("torch.load(f)\ntorch.cuda.Stream()\n")
    failures = [
        Failure(
            "RuntimeError", "CUDA driver version is insufficient", Spot(str(tmp_path / "a.py"), n, 1, n, 1)
        )
        for n in (1, 2)
    ]
    assert [explain._failure(failure).rule for failure in failures] == ["XLA907", "XLA007"]


@pytest.mark.parametrize(("text", "source", "rule", "advice"), explain.table().exceptions)
def test_an_exception_is_one_that_a_fixture_of_its_rule_raises(
    text: str, source: str, rule: str, advice: str
) -> None:
    programs = (FIXTURES / rule).rglob("bad.py")
    claims = [
        line for path in programs for line in path.read_text().splitlines() if line.startswith("# raises")
    ]
    assert any(text in claim for claim in claims)
