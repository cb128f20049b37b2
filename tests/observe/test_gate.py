"""The checks of a finished port; each fails by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.observe.trained import TRAINED

from xlamig.observations import Cost, Event, Failure, Parameter, Saved, Spot, Trace
from xlamig.observe import gate
from xlamig.observe.launch import Exit
from xlamig.observe.run import Run

CLEAN = Trace(
    steps=12, boundary=None, steady=Cost(0, 1, 0), first=(), totals=Cost(2, 12, 0), events=(),
    failure=None, processes=1, device="CPU", training=TRAINED,
)  # fmt: skip
FALLBACK = Event(
    "operator", "fallback", None, "step", 12, 0, 12, 12, 0, 0.1, 0.0, 12, operators=("aten::median",)
)
STILL = Parameter("Net.head.weight", (2, 2), "xla", (0.0, 0.0))
LOST = Parameter("Net.head.weight", (2, 2), "cpu", (0.1, 0.1))


def failing(trace: Trace | None, code: int = 0) -> list[str]:
    run = Run(Exit(code), trace)
    return [check.title for check in gate.checks(run, None, 0.02) if not check.passed]


def test_a_clean_run_passes() -> None:
    assert failing(CLEAN) == []


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({"totals": Cost(0, 0, 0)}, "it uses the XLA device"),
        ({"steady": Cost(0, 2, 1)}, "each step is one graph that is never read"),
        ({"steady": None, "steps": 3}, "each step is one graph that is never read"),
        ({"events": (FALLBACK,)}, "no operator of the step runs on the CPU"),
        ({"training": None}, "it trains"),
        ({"training": replace(TRAINED, parameters=(STILL,))}, "the parameters change"),
        ({"training": replace(TRAINED, parameters=(LOST,))}, "the parameters change"),
        ({"training": replace(TRAINED, unsaved=("`Net` differs",))}, "the state can be saved and loaded"),
        ({"training": replace(TRAINED, saved=(Saved(None, True),))}, "checkpoints hold tensors of the CPU"),
    ],
)
def test_one_check_fails(changed: dict[str, Any], title: str) -> None:
    assert failing(replace(CLEAN, **changed)) == [title]


def test_an_optimizer_of_parameters_that_the_module_lost() -> None:
    stale = replace(TRAINED, strangers=(LOST,))
    checks = list(gate.checks(Run(Exit(0), replace(CLEAN, training=stale)), None, 0.02))
    (check,) = [one for one in checks if one.title == "the optimizer holds the model's parameters"]
    assert not check.passed
    assert check.rule == "XLA405" and check.spot is not None and "Move the model" in check.advice


def test_a_checkpoint_of_the_cpu_is_fine() -> None:
    assert failing(replace(CLEAN, training=replace(TRAINED, saved=(Saved(None, False),)))) == []


@pytest.mark.parametrize("changed", [{"frequency": "once"}, {"client_only": True}])
def test_a_fallback_that_a_tpu_does_not_repeat(changed: dict[str, Any]) -> None:
    assert failing(replace(CLEAN, events=(replace(FALLBACK, **changed),))) == []


def test_what_only_the_cpu_client_reads_is_no_read_of_the_step() -> None:
    only = replace(FALLBACK, client_only=True)
    assert failing(replace(CLEAN, steady=Cost(0, 2, 1), events=(only,))) == []
    read = replace(only, kind="host-read", client_only=False, operators=())
    assert failing(replace(CLEAN, steady=Cost(0, 3, 2), events=(only, read))) == [
        "each step is one graph that is never read"
    ]


def test_a_recompilation_that_the_steady_state_does_not_have_is_no_cost_of_it() -> None:
    only = replace(FALLBACK, client_only=True)
    compiled = replace(
        only, kind="recompile", client_only=False, operators=(), executions=0, device_to_host=0
    )
    events = (compiled, only)
    assert failing(replace(CLEAN, steady=Cost(0, 2, 1), events=events)) == []
    assert failing(replace(CLEAN, steady=Cost(1, 2, 1), events=events)) == [
        "each step is one graph that is never read"
    ]


@pytest.mark.parametrize("message", ["no\nmore", "", "\n"])
def test_a_program_that_fails(message: str) -> None:
    failed = replace(CLEAN, failure=Failure("AssertionError", message, Spot("a.py", 2, 1, 2, 1)))
    assert failing(failed, code=1) == ["the program ends without an error"]


def test_a_program_that_exits_with_another_code() -> None:
    assert failing(CLEAN, code=1) == ["the program ends without an error"]


def test_a_program_that_is_killed_before_it_imports_torch_xla() -> None:
    checks = list(gate.checks(Run(Exit(137, "SIGKILL"), None), None, 0.02))
    assert [check.found for check in checks] == ["ended by SIGKILL", "nothing ran on it"]


def test_a_program_that_never_imports_torch_xla() -> None:
    assert failing(None) == ["it uses the XLA device"]


def test_each_failure_says_what_to_do() -> None:
    failed = replace(
        CLEAN, steady=None, events=(FALLBACK,), training=replace(TRAINED, unsaved=("`Net` differs",))
    )
    checks = [check for check in gate.checks(Run(Exit(3), failed), None, 0.02) if not check.passed]
    assert len(checks) == 4
    assert [check.title for check in checks if not check.advice and not check.rule] == [
        "no operator of the step runs on the CPU"  # its advice is the event's, which has none here
    ]
