"""What a finished port has to show; each check fails by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from xlamig.observations import Cost, Event, Failure, Trace, Training
from xlamig.observe import gate
from xlamig.observe.launch import Exit
from xlamig.observe.run import Run

TRAINED = Training(losses=(1.0, 0.5, 0.25), parameters=4, changed=4, devices=("xla",))
CLEAN = Trace(
    steps=12, boundary=None, steady=Cost(0, 1, 0), first=(), totals=Cost(2, 12, 0), events=(),
    failure=None, processes=1, device="CPU", training=TRAINED,
)  # fmt: skip
FALLBACK = Event(
    "operator", "fallback", None, "step", 12, 0, 12, 12, 0, 0.1, 0.0, 12, operators=("aten::median",)
)


def failing(trace: Trace | None, code: int = 0, reference: Training | None = None) -> list[str]:
    run = Run(Exit(code), trace)
    other = Run(Exit(0), replace(CLEAN, training=reference)) if reference else None
    return [check.title for check in gate.checks(run, other, 0.02) if not check.passed]


def test_a_clean_run_passes() -> None:
    assert failing(CLEAN, reference=TRAINED) == []


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({"totals": Cost(0, 0, 0)}, "it uses the XLA device"),
        ({"steady": Cost(0, 2, 1)}, "each step is one graph that is never read"),
        ({"steady": None, "steps": 3}, "each step is one graph that is never read"),
        ({"events": (FALLBACK,)}, "no operator of the step runs on the CPU"),
        ({"training": None}, "the parameters change"),
        ({"training": replace(TRAINED, changed=0)}, "the parameters change"),
        ({"training": replace(TRAINED, devices=("cpu",))}, "the parameters change"),
    ],
)
def test_one_check_fails(changed: dict[str, Any], title: str) -> None:
    assert failing(replace(CLEAN, **changed)) == [title]


def test_a_fallback_that_happens_once_is_no_matter_of_the_step() -> None:
    assert failing(replace(CLEAN, events=(replace(FALLBACK, frequency="once"),))) == []


def test_a_program_that_fails() -> None:
    failed = replace(CLEAN, failure=Failure("ValueError", "no\nmore", None))
    assert failing(failed, code=1) == ["the program ends without an error"]


def test_a_program_that_never_imports_torch_xla() -> None:
    assert failing(None) == ["it uses the XLA device"]


@pytest.mark.parametrize("losses", [(1.0, 0.5, 0.3), (float("nan"), 0.5, 0.25), ()])
def test_other_losses_than_on_the_cpu(losses: tuple[float, ...]) -> None:
    other = replace(CLEAN, training=replace(TRAINED, losses=losses))
    assert failing(other, reference=TRAINED) == ["the losses are those of the CPU"]
