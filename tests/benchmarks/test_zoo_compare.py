"""A zoo of one package: what counts as found, right, wrong and not reached."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.zoo import observed, traces
from benchmarks.zoo.compare import Score, score
from benchmarks.zoo.manifest import Case, Package
from benchmarks.zoo.predictions import Prediction
from benchmarks.zoo.traces import CaseTrace, Error, Seen

FILE = "timm-1.0/timm/layers.py"
READ = Seen(FILE, (10, 5, 10, 20), "host-read", "item", 5, False, ())
FINDING = Prediction("XLA101", "host-sync", "warning", "likely", "step", "reads", (10, 5, 10, 20))


def _trace(*events: Seen, rows: tuple[int, ...] = (9, 10, 11), **more: object) -> CaseTrace:
    return CaseTrace("case", "ran", None, 10, events, {FILE: rows}, **more)  # type: ignore[arg-type]


def _scored(folder: Path, trace: CaseTrace, *found: Prediction, split: str = "") -> Score:
    package = Package("timm", "1.0", "", (Case("case", "", ""),))
    traces.write(package, {"case": trace}, folder)
    seen = observed.load([package], folder)
    halves = {half: score([package], seen, {FILE: found}, half) for half in ("dev", "test")}
    return halves[split] if split else max(halves.values(), key=lambda s: s.totals.files + s.totals.failures)


def test_an_event_that_nothing_predicts_is_missed(tmp_path: Path) -> None:
    recall = _scored(tmp_path, _trace(READ)).totals.recall["read"]
    assert (recall.observed, recall.found, recall.hinted) == (1, 0, 0)


def test_a_possible_finding_does_not_find(tmp_path: Path) -> None:
    recall = _scored(tmp_path, _trace(READ), replace(FINDING, confidence="possible")).totals.recall["read"]
    assert (recall.found, recall.hinted) == (0, 1)


def test_a_finding_of_another_kind_does_not_find(tmp_path: Path) -> None:
    result = _scored(tmp_path, _trace(READ), replace(FINDING, mechanism="recompile"))
    assert result.totals.recall["read"].found == 0
    assert result.totals.by_mechanism["likely recompile"].wrong == 1


@pytest.mark.parametrize(
    ("message", "found"),
    [("The host reads `n`, and XLA recompiles for each new value", 1), ("The host reads `n`", 0)],
)
def test_a_finding_also_finds_what_its_message_says(tmp_path: Path, message: str, found: int) -> None:
    changed = replace(READ, kind="changing-constant", via="argument")
    totals = _scored(tmp_path, _trace(READ, changed), replace(FINDING, message=message)).totals
    assert (totals.recall["read"].found, totals.recall["recompile"].found) == (1, found)


def test_what_a_message_says_beside_does_not_make_a_finding_right(tmp_path: Path) -> None:
    changed = replace(READ, kind="changing-constant", via="argument")
    found = replace(FINDING, message="The host reads `n`, and XLA recompiles")
    assert _scored(tmp_path, _trace(changed), found).totals.by_mechanism["likely host-sync"].wrong == 1


def test_a_wrong_result_that_raises_finds_the_error(tmp_path: Path) -> None:
    raised = replace(READ, kind="raised", via="RuntimeError")
    found = replace(FINDING, mechanism="wrong-result", message="`x.abs` raises if a gradient is needed")
    totals = _scored(tmp_path, _trace(raised), found).totals
    assert (totals.recall["error"].found, totals.by_mechanism) == (1, {})


def test_a_likely_finding_finds(tmp_path: Path) -> None:
    totals = _scored(tmp_path, _trace(READ), FINDING).totals
    assert totals.recall["read"].found == 1
    assert totals.precision["likely warning"].right == 1


@pytest.mark.parametrize("steps", [1, 2])
def test_an_event_of_few_steps_is_neither_missed_nor_wrong(tmp_path: Path, steps: int) -> None:
    totals = _scored(tmp_path, _trace(replace(READ, steps=steps)), FINDING).totals
    assert totals.recall["read"].observed == 0
    assert totals.precision["likely warning"].seldom == 1


def test_a_finding_on_a_line_that_ran_without_it_is_wrong(tmp_path: Path) -> None:
    result = _scored(tmp_path, _trace(), FINDING)
    assert result.totals.precision["likely warning"].wrong == 1


def test_a_finding_on_a_line_that_did_not_run_is_not_reached(tmp_path: Path) -> None:
    totals = _scored(tmp_path, _trace(rows=(1, 2)), FINDING).totals
    assert totals.unreached == 1
    assert not totals.precision


def test_a_finding_behind_a_short_circuit_is_not_reached(tmp_path: Path) -> None:
    totals = _scored(tmp_path, _trace(unreached={FILE: ((10, 5, 10, 20),)}), FINDING).totals
    assert totals.unreached == 1


def test_a_finding_beside_a_short_circuit_is_wrong(tmp_path: Path) -> None:
    totals = _scored(tmp_path, _trace(unreached={FILE: ((10, 12, 10, 20),)}), FINDING).totals
    assert totals.precision["likely warning"].wrong == 1


@pytest.mark.parametrize(
    ("kind", "steps", "wrong"),
    [("changing-shape", 5, 0), ("recompile", 5, 0), ("changing-shape", 2, 1), ("dynamic-shape", 5, 1)],
)
def test_a_recompilation_of_another_line_leaves_it_open(
    tmp_path: Path, kind: str, steps: int, wrong: int
) -> None:
    other = replace(READ, kind=kind, span=(9, 1, 9, 8), steps=steps)
    totals = _scored(tmp_path, _trace(other), replace(FINDING, mechanism="recompile")).totals
    assert totals.undecided == 1 - wrong
    assert sum(one.wrong for one in totals.precision.values()) == wrong
    read = _scored(tmp_path, _trace(other), FINDING).totals
    assert read.precision["likely warning"].wrong == 1


def test_fallbacks_of_the_cpu_client_alone_are_counted_apart(tmp_path: Path) -> None:
    artefact = replace(READ, kind="operator", operators=("aten::upsample_nearest2d_backward",))
    totals = _scored(tmp_path, _trace(artefact)).totals
    assert totals.artefacts == 1
    assert totals.recall["fallback"].observed == 0


def test_an_exception_on_xla_is_an_event_of_its_line(tmp_path: Path) -> None:
    raised = replace(_trace(), status="raised", error=Error("RuntimeError", "no", FILE, 10))
    warned = replace(FINDING, mechanism="error", severity="error")
    assert _scored(tmp_path, raised).totals.recall["error"].observed == 1
    totals = _scored(tmp_path, raised, warned).totals
    assert totals.recall["error"].found == 1
    assert totals.precision["likely error"].right == 1


def test_a_case_that_fails_on_the_cpu_says_nothing(tmp_path: Path) -> None:
    broken = CaseTrace("case", "broken", Error("TypeError", "no", FILE, 10))
    assert _scored(tmp_path, broken).totals.recall["error"].observed == 0


def test_the_cases_of_test_stay_unread(tmp_path: Path) -> None:
    for split in ("dev", "test"):
        result = _scored(tmp_path, _trace(READ), split=split)
        if result.totals.files:
            assert bool(result.misses) == (split == "dev")
