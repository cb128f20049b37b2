"""Collect what the traces of all cases show of each file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from benchmarks.zoo.inside.spans import contains
from benchmarks.zoo.manifest import Package
from benchmarks.zoo.traces import TRACES, CaseTrace, Error, Seen, Span, read
from xlamig.observe.merge import SHOWN_BY

Kind = Literal["read", "shape", "fallback", "recompile", "error"]
KINDS: tuple[Kind, ...] = ("read", "shape", "fallback", "recompile", "error")
RAISED = "raised"
OF_EVENT: Mapping[str, Kind] = {
    "host-read": "read",
    "dynamic-shape": "shape",
    "operator": "fallback",
    "changing-shape": "recompile",
    "changing-constant": "recompile",
    RAISED: "error",
}
"""Other events have no line that a reader of the code could name."""

SEVERAL = 3  # steps in which an event must be seen to count
ARTEFACTS = frozenset({"aten::upsample_nearest2d_backward", "aten::upsample_bilinear2d_backward"})
"""Operators that fall back on the CPU client only: a TPU has a lowering."""


RECOMPILES = SHOWN_BY["recompile"] - {"dynamic-shape"}  # whose number of elements may stay the same


@dataclass(slots=True)
class Runs:
    """How many cases ran a row in at least 4 steps, and in how many a part of its row never ran."""

    often: dict[int, int] = field(default_factory=dict)
    unreached: dict[Span, int] = field(default_factory=dict)

    def add(self, rows: Collection[int], unreached: Iterable[Span]) -> None:
        """Count one more case."""
        for row in rows:
            self.often[row] = self.often.get(row, 0) + 1
        for span in unreached:
            if span[0] in rows:
                self.unreached[span] = self.unreached.get(span, 0) + 1

    def reached(self, span: Span) -> bool:
        """Return whether the span ran in at least 4 steps, and in some case all the way."""
        rows = [row for row in range(span[0], span[2] + 1) if row in self.often]
        if not rows:
            return False
        cases = max(self.often[row] for row in rows)
        return sum(n for other, n in self.unreached.items() if contains(other, span)) < cases


@dataclass(slots=True)
class File:
    """The events of a file in all cases; `settled` counts the cases that compile nothing in most steps,
    `artefacts` are events left out."""

    runs: Runs = field(default_factory=Runs)
    settled: Runs = field(default_factory=Runs)
    events: list[Seen] = field(default_factory=list)
    artefacts: list[Seen] = field(default_factory=list)

    def kinds(self, span: Span, steps: int = SEVERAL) -> set[str]:
        """Return the kinds of events on the rows of a span that were seen in that many steps."""
        return {e.kind for e in self.events if e.steps >= steps and overlap(e.span, span)}

    def lines(self) -> dict[tuple[int, Kind], list[Seen]]:
        """Return the events to be found, by first row and kind."""
        found: dict[tuple[int, Kind], list[Seen]] = {}
        for event in self.events:
            if event.steps >= SEVERAL and event.kind in OF_EVENT:
                found.setdefault((event.span[0], OF_EVENT[event.kind]), []).append(event)
        return found


@dataclass(frozen=True, slots=True)
class Failed:
    """A case that raises or crashes on XLA and runs on the CPU."""

    package: Package
    case: str
    error: Error


@dataclass(frozen=True, slots=True)
class Observed:
    """`cases` counts them by status, `missing` those without a trace."""

    files: Mapping[str, File]
    failures: tuple[Failed, ...]
    cases: Mapping[str, int]


def overlap(one: Span, other: Span) -> bool:
    """Return whether two spans share a row."""
    return one[0] <= other[2] and other[0] <= one[2]


def load(packages: Iterable[Package], folder: Path = TRACES) -> Observed:
    """Merge the traces of the packages."""
    files: dict[str, File] = {}
    failures: list[Failed] = []
    cases: dict[str, int] = {}
    for package in packages:
        found = read(package, folder)
        for case in package.cases:
            trace = found.get(case.name)
            status = trace.status if trace else "missing"
            cases[status] = cases.get(status, 0) + 1
            if trace is None:
                continue
            _add(trace, files)
            if trace.error and status in ("raised", "crashed"):
                failures.append(Failed(package, case.name, trace.error))
                _add_failure(trace.error, files)
    return Observed(files, tuple(failures), cases)


def _add(trace: CaseTrace, files: dict[str, File]) -> None:
    recompiles = any(e.steps >= SEVERAL and e.kind in RECOMPILES for e in trace.events)
    for name, rows in trace.often.items():
        file = files.setdefault(name, File())
        for runs in (file.runs,) if recompiles else (file.runs, file.settled):
            runs.add(rows, trace.unreached.get(name, ()))
    for event in trace.events:
        file = files.setdefault(event.file, File())
        artefact = event.operators and ARTEFACTS.issuperset(event.operators)
        (file.artefacts if artefact else file.events).append(event)


def _add_failure(error: Error, files: dict[str, File]) -> None:
    if error.file:
        span = (error.row, 1, error.row, 1)
        raised = Seen(error.file, span, RAISED, error.type, SEVERAL, False, ())
        files.setdefault(error.file, File()).events.append(raised)


def counted(observed: Observed) -> Iterator[tuple[str, File]]:
    """Return the files with a row that ran often enough, or with something to be found."""
    return ((name, file) for name, file in sorted(observed.files.items()) if file.runs.often or file.lines())


def without(observed: Observed, folders: frozenset[str]) -> Observed:
    """Leave out the files of packages whose sources are not there."""
    files = {name: file for name, file in observed.files.items() if name.partition("/")[0] not in folders}
    return replace(observed, files=files)
