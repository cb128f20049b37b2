"""Tests of proofs that several runs of one node give."""

from __future__ import annotations

from xlamig.flow.interp.events import agreed


def test_runs_that_differ_prove_nothing() -> None:
    assert agreed({"on-host": "true"}, {}) == {}
    assert agreed({}, {"on-host": "true"}) == {}


def test_runs_that_agree_prove_it() -> None:
    assert agreed({"on-host": "true"}, {"on-host": "true"}) == {"on-host": "true"}


def test_one_run_is_enough_for_a_hazard() -> None:
    assert agreed({"sorted-index": "true"}, {}) == {"sorted-index": "true"}
    assert agreed({"on-host": "true"}, {"complex": "true"}) == {"complex": "true"}
