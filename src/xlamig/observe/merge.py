"""Holds findings against a trace: which were confirmed by a run, and what the run showed besides."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlamig.config.paths import shown_path
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
_OPERATOR = re.compile(r"aten::\w+")
Own = Container[tuple[str, Path, int]]  # the operators that findings name, and at which lines


class TraceError(Exception):
    """The file is not the JSON of a trace."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A trace by file and row. `lines` has in how many steps each line ran."""

    events: Mapping[Path, Mapping[int, list[dict[str, Any]]]]
    lines: Mapping[Path, Mapping[int, int]]
    failed_at: tuple[Path, int] | None
    failure: str
    redirects: bool  # calls of CUDA, which therefore raise nothing


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
    kind = failure["type"] if failure else ""
    return Observed(events, lines, at, kind, bool(content.get("redirected")))


def merge(report: Report, observed: Observed) -> tuple[Report, list[str]]:
    """The report with `observed` told of each finding, the confirmed ones first; and a line for
    each event that no finding speaks of."""
    own = {
        (operator, *place)
        for finding in report.findings
        for operator in _operators_in(finding)
        for place in _lines_of(finding)
    }
    told: set[tuple[Path, int]] = set()
    files = []
    for file in report.files:
        findings = [replace(one, observed=_observation_of(one, observed, own, told)) for one in file.findings]
        files.append(replace(file, findings=tuple(sorted(findings, key=_is_unconfirmed))))
    files.sort(key=lambda file: all(map(_is_unconfirmed, file.findings)))
    rest = [
        _line(path, row, events)
        for path, rows in observed.events.items()
        for row, events in rows.items()
        if (path, row) not in told
    ]
    return replace(report, files=tuple(files)), rest


def _is_unconfirmed(finding: Finding) -> bool:
    return not finding.observed.startswith("confirmed")


def _lines_of(finding: Finding) -> list[tuple[Path, int]]:
    path = Path(finding.filename).resolve()
    return [(path, row) for row in range(finding.place.location.row, finding.place.end_location.row + 1)]


def _operators_in(finding: Finding) -> set[str]:
    """Return the operators that the message names; a gradient counts as its operator."""
    return {name.removesuffix("_backward") for name in _OPERATOR.findall(finding.message)}


def _observation_of(finding: Finding, observed: Observed, own: Own, told: set[tuple[Path, int]]) -> str:
    """Return the observation of a finding; its lines, and those of its operators, are added to `told`."""
    if finding.cell is not None:
        return ""
    lines = _lines_of(finding)
    told.update(lines)
    ran = max(observed.lines.get(path, {}).get(row, 0) for path, row in lines)
    kinds = SHOWN_BY.get(finding.mechanism, frozenset())
    elsewhere = list(_elsewhere(finding, observed, kinds, own)) if ran else []
    told.update((path, row) for path, row, _ in elsewhere)
    if finding.mechanism == "error" and observed.failed_at in lines:
        return f"confirmed: {observed.failure} was raised here"
    hidden = observed.redirects and finding.mechanism == "error" and not _operators_in(finding)
    here = [event for path, row in lines for event in observed.events.get(path, {}).get(row, ())]
    if events := [event for event in here if event["kind"] in kinds and not hidden]:
        return f"confirmed: {_cost(events)}"
    if elsewhere:
        path, row, _ = elsewhere[0]
        return f"confirmed: {_cost(event for *_, event in elsewhere)} ({shown_path(path)}:{row})"
    if not ran:
        return "not reached: the line did not run"
    more = ", with calls of CUDA redirected" if hidden else ""
    return f"not observed: the line ran in {ran} of the steps{more}" if kinds else ""


def _elsewhere(
    finding: Finding, observed: Observed, kinds: Container[str], own: Own
) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """Events of the finding's operators at lines where no finding names them: a module runs where it is
    called, a gradient where `backward` is."""
    named = _operators_in(finding)
    for path, rows in observed.events.items() if named else ():
        for row, events in rows.items():
            for event in events:
                ran = {name.removesuffix("_backward") for name in event.get("operators", ())}
                if event["kind"] in kinds and any((one, path, row) not in own for one in ran & named):
                    yield path, row, event


def _cost(events: Iterable[dict[str, Any]]) -> str:
    events = list(events)
    words = (("compiles", "compilations"), ("executions", "executions"), ("device_to_host", "reads"))
    counts = [(sum(event[key] for event in events), word) for key, word in words]
    missing = sum(event["count"] for event in events if event["kind"] == "unsupported-operator")
    if missing:
        return f"{missing} calls of an operator without a kernel"
    costs = [f"{count} {word}" for count, word in counts if count]
    if seconds := sum(event["seconds"] or event["compile_seconds"] for event in events):
        costs.append(f"{seconds:.2f} s")
    return ", ".join(costs) or f"{sum(event['count'] for event in events)} calls"


def _line(path: Path, row: int, events: list[dict[str, Any]]) -> str:
    what = ", ".join(dict.fromkeys(f"{event['kind']} ({event['via']})" for event in events))
    rule = next((f" [{event['rule']}]" for event in events if event["rule"]), "")
    return f"{shown_path(path)}:{row}: {what}: {_cost(events)}{rule}"
