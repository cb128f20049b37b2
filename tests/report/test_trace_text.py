"""The trace for people at a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from traces import EMPTY, EVENTS, FAILED, FAILURE, HEALTHY, TRACE, event, spot, text_of

from xlamig.observations import Cost, Frequency, Spot, Trace
from xlamig.report import trace_text
from xlamig.report.colors import paint
from xlamig.report.context import Context


def text(trace: Trace, source: str | None = None) -> str:
    context = Context(text_of if source is None else lambda filename: source)
    return "\n".join(trace_text.render(trace, context))


def test_a_program_without_steps() -> None:
    assert text(EMPTY) == (
        "0 steps on CPU (torch_xla 2.9.0)\n"
        "Boundary      none: no step was ever sent to the device, the graph only grows"
    )


def test_a_healthy_program_has_no_table() -> None:
    assert text(HEALTHY).endswith("healthy\nNo line reads, recompiles or falls back.")


def test_too_few_steps_are_not_called_healthy() -> None:
    assert "too few steps to tell" in text(replace(HEALTHY, steady=None))


def test_only_one_execution_and_nothing_else_is_healthy() -> None:
    assert "0/2.5/1 per step, healthy is 0/1/0" in text(TRACE)
    assert "0/0/0 per step, healthy is 0/1/0" in text(replace(TRACE, steady=Cost(0, 0, 0)))


def test_boundaries_and_transfers_are_no_harm() -> None:
    assert "copied to the device" not in text(TRACE)
    assert "step boundary" not in text(TRACE)


def test_an_event_with_its_line_and_its_advice() -> None:
    assert (
        "train.py:8:14  read on the host (item), every step: 8 executions, 8 reads, 0.25 s\n"
        "    total += loss.item()\n"
        "    XLA101: keep `total` on the device\n"
    ) in text(TRACE)


def test_seconds_of_a_recompilation_are_those_of_the_compiler() -> None:
    assert "recompiled for a new shape (input), in one step: 1 compilation, 1.50 s" in text(TRACE)
    assert "\n    8x4 -> 2x4\n" in text(TRACE)


def test_operators_are_named_and_a_backward_pass_is_said() -> None:
    assert "ran on the CPU (aten::median) in the backward pass, every step" in text(TRACE)


@pytest.mark.parametrize(
    ("frequency", "told"),
    [
        ("once", "in one step"),
        ("warm-up", "in the first steps"),
        ("interval", "3 of 8 steps"),
        ("step", "every step"),
    ],
)
def test_frequency(frequency: Frequency, told: str) -> None:
    found = event(where=spot("loss.item()"), frequency=frequency, steps_seen=3)
    assert f"(item), {told}:" in text(replace(TRACE, events=(found,)))


def test_what_cost_nothing_has_no_cost() -> None:
    free = event("execution", "sync", spot("loss.item()"), executions=0, device_to_host=0, seconds=0.001)
    assert "run at once (sync), every step\n" in text(replace(TRACE, events=(free,)))


@pytest.mark.parametrize("source", ["", "short"])
def test_a_source_that_is_gone_or_shorter_has_no_line(source: str) -> None:
    assert "loss.item()" not in text(TRACE, source)
    assert "\n    \n" not in text(FAILED, source)


def test_sources_and_messages_cannot_steer_the_terminal() -> None:
    where = Spot("a\x1b[2J.py", 1, 1, 1, 2)
    evil = replace(TRACE, events=(event(where=where, detail="\x1b[2J"),))
    failed = replace(evil, failure=replace(FAILURE, message="\x1b[2J"))
    assert "\x1b" not in text(failed, "x = '\x1b[2J'")


def test_the_exception_comes_last_with_the_first_line_of_its_message() -> None:
    assert text(FAILED).endswith(
        "\n\nRuntimeError: no device\n  at train.py:7:5\n    loss.backward()\n  XLA001: choose `device` once"
    )


@pytest.mark.parametrize("message", ["", "\n"])
def test_an_exception_without_words_or_a_place(message: str) -> None:
    failure = replace(FAILURE, message=message, spot=None, rule="", advice="")
    assert text(replace(EMPTY, failure=failure)).endswith("\n\nRuntimeError")


def test_what_was_redirected_and_how_many_processes() -> None:
    assert "8 steps on CPU (torch_xla 2.9.0), the busiest of 2 processes\n" in text(FAILED)
    assert "\nRedirected to XLA: Tensor.cuda (3), device arguments (1)\n" in text(FAILED)


def test_colour_changes_no_text() -> None:
    coloured = "\n".join(trace_text.render(replace(TRACE, events=EVENTS[1:2]), Context(text_of, paint=paint)))
    assert "\x1b[1m8 steps on CPU" in coloured
