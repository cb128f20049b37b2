"""Holds findings against a trace: which were confirmed by a run, and what the run showed besides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlamig.config.paths import shown
from xlamig.findings import Finding, Mechanism, Report
from xlamig.observations import QUIET

SHOWN_BY: Mapping[Mechanism, frozenset[str]] = {
    "host-sync": frozenset({"host-read", "execution", "operator", "dynamic-shape"}),
    "recompile": frozenset(
        {"changing-shape", "changing-constant", "changing-path", "recompile", "dynamic-shape"}
    ),
    "cpu-fallback": frozenset({"operator", "dynamic-shape", "host-read"}),
    "error": frozenset({"unsupported-operator"}),
    "slow": frozenset({"host-read", "execution", "operator"}),
}
"""Kinds of events that confirm a finding of that mechanism."""


class TraceError(Exception):
    """The file is not the JSON of a trace."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A trace by file and row. `lines` has in how many steps each line ran."""

    events: Mapping[Path, Mapping[int, list[dict[str, Any]]]]
    lines: Mapping[Path, Mapping[int, int]]
    failed_at: tuple[Path, int] | None
    failure: str


def read(path: Path) -> Observed:
    """Raises TraceError, and OSError for a file that cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        events: dict[Path, dict[int, list[dict[str, Any]]]] = {}
        for event in content["events"]:
            if event["filename"] and event["kind"] not in QUIET:
                rows = events.setdefault(Path(event["filename"]).resolve(), {})
                rows.setdefault(event["location"]["row"], []).append(event)
        lines = {
            Path(name).resolve(): {int(row): steps for row, steps in rows.items()}
            for name, rows in content["lines"].items()
        }
        failure = content["exception"]
        at = (
            (Path(failure["filename"]).resolve(), failure["location"]["row"])
            if failure and failure["filename"]
            else None
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TraceError(f"{path} is no trace, as `xlamig trace --output-format json` writes it") from error
    return Observed(events, lines, at, failure["type"] if failure else "")


def merge(report: Report, observed: Observed) -> tuple[Report, list[str]]:
    """The report with `observed` told of each finding, the confirmed ones first; and a line for
    each event that no finding speaks of."""
    told: set[tuple[Path, int]] = set()
    files = []
    for file in report.files:
        findings = [replace(finding, observed=_told(finding, observed, told)) for finding in file.findings]
        files.append(replace(file, findings=tuple(sorted(findings, key=_unconfirmed))))
    files.sort(key=lambda file: all(map(_unconfirmed, file.findings)))
    rest = [
        _line(path, row, events)
        for path, rows in observed.events.items()
        for row, events in rows.items()
        if (path, row) not in told
    ]
    return replace(report, files=tuple(files)), rest


def _unconfirmed(finding: Finding) -> bool:
    return not finding.observed.startswith("confirmed")


def _told(finding: Finding, observed: Observed, told: set[tuple[Path, int]]) -> str:
    if finding.cell is not None:
        return ""
    path = Path(finding.filename).resolve()
    rows = range(finding.place.location.row, finding.place.end_location.row + 1)
    told.update((path, row) for row in rows)
    if (
        finding.mechanism == "error"
        and observed.failed_at
        and observed.failed_at in {(path, row) for row in rows}
    ):
        return f"confirmed: {observed.failure} was raised here"
    by_row = observed.events.get(path, {})
    kinds = SHOWN_BY.get(finding.mechanism, frozenset())
    events = [event for row in rows for event in by_row.get(row, ()) if event["kind"] in kinds]
    if events:
        return f"confirmed: {_cost(events)}"
    ran = max((observed.lines.get(path, {}).get(row, 0) for row in rows), default=0)
    if not ran:
        return "not reached: the line did not run"
    return f"not observed: the line ran in {ran} of the steps" if kinds else ""


def _cost(events: Iterable[dict[str, Any]]) -> str:
    events = list(events)
    words = (("compiles", "compilations"), ("executions", "executions"), ("device_to_host", "reads"))
    counts = [(sum(event[key] for event in events), word) for key, word in words]
    missing = sum(event["count"] for event in events if event["kind"] == "unsupported-operator")
    if missing:
        return f"{missing} calls of an operator without a kernel"
    seconds = sum(event["seconds"] or event["compile_seconds"] for event in events)
    return ", ".join([*(f"{count} {word}" for count, word in counts if count), f"{seconds:.2f} s"])


def _line(path: Path, row: int, events: list[dict[str, Any]]) -> str:
    what = ", ".join(dict.fromkeys(f"{event['kind']} ({event['via']})" for event in events))
    rule = next((f" [{event['rule']}]" for event in events if event["rule"]), "")
    return f"{shown(path)}:{row}: {what}: {_cost(events)}{rule}"
