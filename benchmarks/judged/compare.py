"""Judged findings against what a later version of xlamig reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.checked import Checked, CheckFailed, checked
from benchmarks.judged.places import Place, Sources
from benchmarks.judged.records import SEVERITIES as LISTED
from benchmarks.judged.records import Judged
from benchmarks.mirror import MissingMirror

Status = Literal["reported", "lowered", "folded", "attached", "renamed", "gone"]
PROCESSES = 2
SEVERITIES = (*LISTED, "aside")  # counted in the report, and not listed
Where = tuple[str, int | None, Place]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a judged finding. *lowered*: reported with less severity; *folded*: its place is among
    the reasons or the further places of another finding of the rule; *attached*: it is a further place of
    another rule's finding, as of a kernel that its statement launches; *renamed*: another rule reports the
    statement; `now` is the severity with which it is reported, "aside" where it is only counted."""

    judged: Judged
    status: Status
    now: str | None = None

    @property
    def strong(self) -> bool:
        """Return whether it is still an error or a warning."""
        return self.status != "gone" and self.now in ("error", "warning")

    @property
    def regression(self) -> str | None:
        """Return what is wrong with the outcome, in words; None where it is as it should be."""
        if self.judged.verdict in ("false", "noise"):
            back = self.status in ("reported", "folded") or (self.status == "lowered" and self.strong)
            return "still reported" if back else None
        if self.judged.verdict == "true" and self.status == "gone":
            return "vanished"
        if self.judged.verdict == "true" and self.judged.strong and not self.strong:
            return "only info now"
        return None


@dataclass(frozen=True, slots=True)
class Compared:
    """The outcomes of all judged findings whose repository could be checked, and what could not be."""

    outcomes: list[Outcome]
    checked: dict[str, Checked]
    problems: list[str]


def compare(judged: Iterable[Judged], mirror: Path, **options: Any) -> Compared:
    """Check each repository of the findings again, two at a time, and look its findings up."""
    by_repository: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for finding in judged:
        by_repository[(finding.repo, finding.commit)].append(finding)
    result = Compared([], {}, [])
    with ThreadPoolExecutor(PROCESSES) as pool:
        running = [pool.submit(checked, *key, mirror, **options) for key in by_repository]
    for ((repo, _), rows), run in zip(by_repository.items(), running, strict=True):
        try:
            found = run.result()
        except (MissingMirror, CheckFailed) as error:
            result.problems.append(f"{repo}: {error}")
            continue
        result.checked[repo] = found
        result.outcomes.extend(look_up(rows, found.findings, Sources(found.folder)))
    return result


def look_up(
    judged: Sequence[Judged], findings: Sequence[Mapping[str, Any]], sources: Sources
) -> list[Outcome]:
    """Return what became of each judged finding of one repository."""
    at: dict[Where, dict[str, str]] = defaultdict(dict)
    among_reasons: dict[Where, dict[str, str]] = defaultdict(dict)
    attached: dict[Where, dict[str, str]] = defaultdict(dict)
    for finding in findings:
        cell, severity = finding["cell"], finding["severity"]
        where = (finding["filename"], cell, sources.at(finding["filename"], cell, finding["location"]["row"]))
        match finding.get("aside"):
            case None:
                _keep_worst(at[where], finding["code"], severity)
            case "job":
                same = finding["of"] == finding["code"]
                _keep_worst((among_reasons if same else attached)[where], finding["code"], severity)
            case _:
                _keep_worst(at[where], finding["code"], "aside")
        for reason in finding["reasons"]:
            if reason.get("location") and reason.get("filename"):
                path = reason["filename"]
                inside = cell if path == finding["filename"] else None
                place = sources.at(path, reason.get("cell", inside), reason["location"]["row"])
                _keep_worst(among_reasons[(path, inside, place)], finding["code"], severity)
    return [_outcome(row, at, among_reasons, attached) for row in judged]


def _keep_worst(severities: dict[str, str], code: str, severity: str) -> None:
    if code not in severities or SEVERITIES.index(severity) < SEVERITIES.index(severities[code]):
        severities[code] = severity


def _outcome(
    row: Judged,
    at: Mapping[Where, Mapping[str, str]],
    among_reasons: Mapping[Where, Mapping[str, str]],
    attached: Mapping[Where, Mapping[str, str]],
) -> Outcome:
    where = (row.path, row.cell, row.place)
    here = at.get(where, {})
    if row.rule in here:
        lower = SEVERITIES.index(here[row.rule]) > SEVERITIES.index(row.severity)
        return Outcome(row, "lowered" if lower else "reported", here[row.rule])
    folded = among_reasons.get(where, {}).get(row.rule)
    if folded:
        return Outcome(row, "folded", folded)
    if further := attached.get(where, {}).get(row.rule):
        return Outcome(row, "attached", further)
    if here:
        return Outcome(row, "renamed", min(here.values(), key=SEVERITIES.index))
    return Outcome(row, "gone")
