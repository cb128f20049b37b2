"""Traces of cases, kept by package and version: facts by line, and no source text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.zoo.inside.spans import Span
from benchmarks.zoo.manifest import Package

TRACES = Path(__file__).with_name("traces")
OFTEN = 4  # steps in which a line must have run to count

Status = Literal["ran", "partial", "raised", "slow", "crashed", "broken"]
"""`partial`: training steps only, and the model's own files. `raised` and `crashed`: on XLA alone.
`broken`: on the CPU as well, so the case says nothing of XLA."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An event of a line; `steps` is in how many it was."""

    file: str
    span: Span
    kind: str
    via: str
    steps: int
    backward: bool
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Error:
    """`file` is None when no line of the zoo's packages was running."""

    type: str
    message: str
    file: str | None
    row: int


@dataclass(frozen=True, slots=True)
class CaseTrace:
    """`often` holds the rows that ran in at least 4 steps; `unreached` parts of lines that did not run."""

    case: str
    status: Status
    error: Error | None = None
    steps: int = 0
    events: tuple[Seen, ...] = ()
    often: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    unreached: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)


def path_of(package: Package, folder: Path = TRACES) -> Path:
    return folder / f"{package.folder}.json.gz"


def read(package: Package, folder: Path = TRACES) -> dict[str, CaseTrace]:
    """Return the traces of a package by case; none for one that was never run."""
    path = path_of(package, folder)
    if not path.is_file():
        return {}
    content = json.loads(gzip.decompress(path.read_bytes()))
    return {case: _decoded(case, raw) for case, raw in content.items()}


def write(package: Package, traces: Mapping[str, CaseTrace], folder: Path = TRACES) -> None:
    """The same traces give the same bytes."""
    content = {case: _encoded(traces[case]) for case in sorted(traces)}
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    folder.mkdir(parents=True, exist_ok=True)
    path_of(package, folder).write_bytes(gzip.compress(text.encode(), mtime=0))


def _encoded(trace: CaseTrace) -> dict[str, Any]:
    return {
        "status": trace.status,
        "error": trace.error and asdict(trace.error),
        "steps": trace.steps,
        "events": [
            [e.file, e.span, e.kind, e.via, e.steps, int(e.backward), e.operators] for e in trace.events
        ],
        "often": {name: as_ranges(rows) for name, rows in trace.often.items()},
        "unreached": trace.unreached,
    }


def _decoded(case: str, raw: dict[str, Any]) -> CaseTrace:
    return CaseTrace(
        case,
        raw["status"],
        raw["error"] and Error(**raw["error"]),
        raw["steps"],
        tuple(
            Seen(file, tuple(span), kind, via, steps, bool(backward), tuple(operators))
            for file, span, kind, via, steps, backward, operators in raw["events"]
        ),
        {name: tuple(of_ranges(text)) for name, text in raw["often"].items()},
        {name: tuple(map(tuple, spans)) for name, spans in raw["unreached"].items()},
    )


def as_ranges(rows: Iterable[int]) -> str:
    """Return "1-3 7" for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for row in sorted(rows):
        if runs and row == runs[-1][1] + 1:
            runs[-1][1] = row
        else:
            runs.append([row, row])
    return " ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in runs)


def of_ranges(text: str) -> Iterator[int]:
    for part in text.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
