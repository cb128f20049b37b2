"""Events of one of several alternatives did not happen in the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from xlamig.flow.interp.ways import Ways

RUN, OTHER = (90, 0), (80, 0)


@pytest.fixture
def state() -> Any:
    return SimpleNamespace(ways={})


def seen(state: Any, *ways: dict[tuple[int, int], int]) -> Ways:
    found = Ways(cast(Any, state))
    for way in ways:
        state.ways = way
        found.note("net")
    return found


def test_excludes_what_another_alternative_did(state: Any) -> None:
    ways = seen(state, {RUN: 0})
    state.ways = {RUN: 1}
    assert ways.excluded("net")


@pytest.mark.parametrize("now", [{}, {RUN: 0}, {OTHER: 1}, {RUN: 0, OTHER: 1}], ids=str)
def test_keeps_what_the_same_alternative_did(state: Any, now: dict[tuple[int, int], int]) -> None:
    ways = seen(state, {RUN: 0})
    state.ways = now
    assert not ways.excluded("net")


def test_keeps_what_every_alternative_did(state: Any) -> None:
    ways = seen(state, {RUN: 0}, {RUN: 1})
    state.ways = {RUN: 1}
    assert not ways.excluded("net")


def test_knows_nothing_of_what_did_not_happen(state: Any) -> None:
    state.ways = {RUN: 1}
    assert not Ways(cast(Any, state)).excluded("net")
