"""Holds what was predicted against what was observed, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.split import Split
from benchmarks.zoo import observed as seen
from benchmarks.zoo.manifest import Package
from benchmarks.zoo.observed import OF_EVENT, RAISED, File, Observed, overlap
from benchmarks.zoo.predictions import Prediction, Predictions
from benchmarks.zoo.split import Splitter
from xlamig.observe.merge import SHOWN_BY

JUDGED: Mapping[str, frozenset[str]] = {
    **{mechanism: SHOWN_BY[mechanism] for mechanism in ("host-sync", "recompile", "cpu-fallback")},
    "error": frozenset({RAISED}),
}
"""Events that confirm a finding, by its mechanism. Findings of other mechanisms are not judged."""

SAID: Mapping[str, str] = {"recompile": "recompiles", "error": "raises"}
"""Words of a message that predict a kind of event beside the one of the finding's mechanism. They count for
recall; whether a finding is right, its mechanism decides."""

FOUND = frozenset({"certain", "likely"})


@dataclass(frozen=True, slots=True)
class Miss:
    """A line on which something happened that no finding of at least `likely` predicts."""

    file: str
    row: int
    kind: str
    hinted: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Refuted:
    """A finding on a line that ran, and what it predicts was not observed."""

    file: str
    prediction: Prediction


@dataclass(slots=True)
class Recall:
    """Lines on which an event was observed: predicted as `likely` or surer, as `possible`, or not."""

    observed: int = 0
    found: int = 0
    hinted: int = 0


@dataclass(slots=True)
class Precision:
    """Findings on lines that ran. `seldom`: what they predict was seen in one or two steps only."""

    right: int = 0
    seldom: int = 0
    wrong: int = 0


@dataclass(slots=True)
class Totals:
    """Counts of one half. `unreached` findings stand on code that did not run in 4 steps; `undecided` ones
    say that a line recompiles, and all cases that ran it recompile for a reason that stands on another."""

    files: int = 0
    lines: int = 0
    event_lines: int = 0
    artefacts: int = 0
    unreached: int = 0
    undecided: int = 0
    failures: int = 0
    unplaced_failures: int = 0
    recall: dict[str, Recall] = field(default_factory=lambda: {kind: Recall() for kind in seen.KINDS})
    precision: dict[str, Precision] = field(default_factory=dict)
    by_mechanism: dict[str, Precision] = field(default_factory=dict)


@dataclass(slots=True)
class Score:
    """`misses`, `refuted` and `failures` stay empty for the half that nobody reads."""

    totals: Totals = field(default_factory=Totals)
    misses: list[Miss] = field(default_factory=list)
    refuted: list[Refuted] = field(default_factory=list)
    failures: list[seen.Failed] = field(default_factory=list)


def score(packages: Sequence[Package], observed: Observed, predictions: Predictions, split: Split) -> Score:
    """Compare the files of one half with what was predicted of them."""
    splitter = Splitter(packages)
    result = Score()
    for name, file in seen.counted(observed):
        if splitter.of_file(name) == split:
            _compare(name, file, predictions.get(name, ()), result)
    for failed in observed.failures:
        place = failed.error.file
        if split == (splitter.of_file(place) if place else splitter.of_case(failed.package, failed.case)):
            result.failures.append(failed)
            result.totals.failures += 1
            result.totals.unplaced_failures += place is None
    return result if split == "dev" else Score(result.totals)


def _compare(name: str, file: File, predictions: Iterable[Prediction], result: Score) -> None:
    found = list(predictions)
    totals = result.totals
    lines = file.lines()
    totals.files += 1
    totals.lines += len(file.runs.often)
    totals.event_lines += len({row for row, _ in lines})
    totals.artefacts += len({event.span[0] for event in file.artefacts})
    for (row, kind), events in lines.items():
        _count_line(Line(name, row, kind, events), found, result)
    for prediction in found:
        if prediction.mechanism in JUDGED:
            _count_prediction(name, file, prediction, result)


@dataclass(frozen=True, slots=True)
class Line:
    """A line and its events of one kind."""

    file: str
    row: int
    kind: seen.Kind
    events: Sequence[seen.Seen]

    def predicted_by(self, prediction: Prediction) -> bool:
        """Return whether a finding speaks of this kind of event on one of its rows."""
        kinds = {OF_EVENT[event] for event in JUDGED.get(prediction.mechanism, ()) if event in OF_EVENT}
        said = self.kind in SAID and SAID[self.kind] in prediction.message
        return (self.kind in kinds or said) and any(
            overlap(event.span, prediction.span) for event in self.events
        )

    def detail(self) -> str:
        words = {" ".join((event.via, *event.operators)) for event in self.events}
        return ", ".join(sorted(words))


def _count_line(line: Line, predictions: Iterable[Prediction], result: Score) -> None:
    confidences = {p.confidence for p in predictions if line.predicted_by(p)}
    recall = result.totals.recall[line.kind]
    recall.observed += 1
    if confidences & FOUND:
        recall.found += 1
        return
    recall.hinted += bool(confidences)
    result.misses.append(Miss(line.file, line.row, line.kind, bool(confidences), line.detail()))


def _count_prediction(name: str, file: File, prediction: Prediction, result: Score) -> None:
    totals = result.totals
    confirming = JUDGED[prediction.mechanism]
    outcome = "wrong"
    if file.kinds(prediction.span) & confirming:
        outcome = "right"
    elif not file.runs.reached(prediction.span):
        totals.unreached += 1
        return
    elif file.kinds(prediction.span, 1) & confirming:
        outcome = "seldom"
    elif prediction.mechanism == "recompile" and not file.settled.reached(prediction.span):
        totals.undecided += 1
        return
    else:
        result.refuted.append(Refuted(name, prediction))
    for counts, key in (
        (totals.precision, prediction.severity),
        (totals.by_mechanism, prediction.mechanism),
    ):
        count = counts.setdefault(f"{prediction.confidence} {key}", Precision())
        setattr(count, outcome, getattr(count, outcome) + 1)
