"""A dependency is one finding of a rule, wherever it is imported or required, and one job; what it has to say
about others is said with their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xlamig.findings import CONFIDENCES, SEVERITIES, FileReport, Finding, Reason
from xlamig.rulebook.rulings import LEVELS

_REQUIREMENT = "XLA909"
_MOST_PLACES = 5


def once_per_dependency(reports: Mapping[str, FileReport]) -> Mapping[str, FileReport]:
    """Return the reports with one finding per dependency: the most serious, with the places of the others as
    reasons."""
    together: dict[tuple[str, str], list[Finding]] = {}
    for name in sorted(reports):
        for finding in reports[name].findings:
            if finding.dependency:
                together.setdefault((finding.code, finding.dependency), []).append(finding)
    if not together:
        return reports
    kept = {id(best): replaced for best, replaced in map(_one_of, together.values())}
    dropped = {id(f) for found in together.values() for f in found} - kept.keys()
    return _with_jobs(
        {
            name: replace(
                report, findings=tuple(kept.get(id(f), f) for f in report.findings if id(f) not in dropped)
            )
            for name, report in reports.items()
        }
    )


def _with_jobs(reports: Mapping[str, FileReport]) -> Mapping[str, FileReport]:
    """Return the reports, with the requirement of a package, and calls that say the same of it, in the job of
    its imports: who drops a package, or gets another build of it, changes them all."""
    every = [finding for report in reports.values() for finding in report.findings]
    imports: dict[str, Finding] = {}
    for finding in every:
        if finding.dependency and finding.code != _REQUIREMENT:
            imports.setdefault(_package(finding), finding)
    said = {(one.code, one.message): name for name, one in imports.items()}
    calls = {id(f): said[key] for f in every if not f.dependency and (key := (f.code, f.message)) in said}
    asked = {_package(f) for f in every if f.code == _REQUIREMENT and not f.job}.union(calls.values())
    jobs = {name: one.job or f"package|{name}" for name, one in imports.items() if name in asked}

    def with_job(finding: Finding) -> Finding:
        name = _package(finding) if finding.dependency and not finding.job else calls.get(id(finding), "")
        return replace(finding, job=jobs[name]) if name in jobs else finding

    return {
        name: replace(report, findings=tuple(map(with_job, report.findings)))
        for name, report in reports.items()
    }


def _package(finding: Finding) -> str:
    """Return the name of a package as its distribution has it: `torch_scatter` is `torch-scatter`."""
    return finding.dependency.replace("_", "-").casefold()


def _one_of(found: list[Finding]) -> tuple[Finding, Finding]:
    """The finding that stands for all, as it is and with the places of the others."""
    best = min(found, key=_weight)
    others = [f for f in found if f is not best]
    reasons = tuple(Reason(_also(f, best), f.filename, f.place) for f in others[:_MOST_PLACES])
    if len(others) > _MOST_PLACES:
        left = f"and {_more_places(len(others) - _MOST_PLACES)}"
        reasons = (*reasons, Reason(left, best.filename, best.place))
    return best, replace(best, reasons=(*best.reasons, *reasons))


def _weight(finding: Finding) -> tuple[int, int, int, bool]:
    return (
        SEVERITIES.index(finding.severity),
        -LEVELS.index(finding.effort.level),
        CONFIDENCES.index(finding.confidence),
        "/." in f"/{finding.filename}",  # a workflow of the tests is the last place to name
    )


def _also(finding: Finding, best: Finding) -> str:
    """It may be required in another way there, and another part may be replaced by something else."""
    how = "also here" if finding.message == best.message else f"also here: {finding.message}"
    if finding.help in ("", best.help):
        return how
    return f"{how}; for this place: {finding.help}"


def with_concerns(reports: Mapping[str, FileReport]) -> Mapping[str, FileReport]:
    """The reports, where findings that concern others name the places of these."""
    asking = [name for name, report in reports.items() if any(f.concerns for f in report.findings)]
    if not asking:
        return reports
    by_code: dict[str, list[Finding]] = {}
    for name in sorted(reports):
        for finding in reports[name].findings:
            by_code.setdefault(finding.code, []).append(finding)
    changed = {
        name: replace(
            reports[name], findings=tuple(_with_concerns(f, by_code) for f in reports[name].findings)
        )
        for name in asking
    }
    return {**reports, **changed}


def _with_concerns(finding: Finding, by_code: Mapping[str, list[Finding]]) -> Finding:
    reasons = list(finding.reasons)
    for concern in finding.concerns:
        found = [other for code in concern.codes for other in by_code.get(code, ())]
        if found:
            first, more = found[0], len(found) - 1
            places = f" and {_more_places(more)}" if more else ""
            message = f"{first.code} is reported here{places}: {concern.text}"
            reasons.append(Reason(message, first.filename, first.place))
    return finding if len(reasons) == len(finding.reasons) else replace(finding, reasons=tuple(reasons))


def _more_places(count: int) -> str:
    return f"at {count} more place{'s' * (count > 1)}"
