"""Precision by rule, severity and confidence, before and now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from benchmarks.intervals import percent
from benchmarks.judged.agreement import kappa, raw
from benchmarks.judged.compare import Compared, Outcome
from benchmarks.judged.records import VERDICTS, Judged

GROUPS: dict[str, Callable[[Judged], str]] = {
    "severity": lambda f: f.severity,
    "confidence": lambda f: f"{f.severity} {f.confidence}",
    "frequency": lambda f: f.frequency,
    "rule": lambda f: f.rule,
    "repository": lambda f: f.repo,
}


def share(findings: Sequence[Judged]) -> str:
    """Return "true/n share (interval)"."""
    true = sum(f.verdict == "true" for f in findings)
    return f"{true}/{len(findings)} {percent(true, len(findings))}"


def weighted(findings: Sequence[Judged]) -> dict[str, float]:
    """Return the shares of the verdicts if each drawn finding stands for all of its rule and class in its
    repository."""
    sums: defaultdict[str, float] = defaultdict(float)
    for finding in findings:
        sums[str(finding.verdict)] += finding.of / finding.drawn
    total = sum(sums.values())
    return {verdict: sums[verdict] / total for verdict in VERDICTS} if total else {}


def verdict_table(findings: Sequence[Judged]) -> Iterator[str]:
    """Yield how the verdicts are distributed over errors and warnings, and infos."""
    yield f"{'':<20}{'n':>5}" + "".join(f"{verdict:>22}" for verdict in VERDICTS)
    strong = [f for f in findings if f.strong]
    groups = [("errors + warnings", strong)]
    groups += [(s, [f for f in findings if f.severity == s]) for s in ("error", "warning", "info")]
    for name, group in groups:
        counts = Counter(f.verdict for f in group)
        cells = "".join(f"{percent(counts[verdict], len(group)):>22}" for verdict in VERDICTS)
        yield f"{name:<20}{len(group):>5}{cells}"
    if shares := weighted(strong):
        yield f"{'- as often as reported':<25}" + "".join(f"{shares[v]:>22.0%}" for v in VERDICTS)


def group_table(findings: Sequence[Judged], outcomes: Sequence[Outcome], by: str) -> Iterator[str]:
    """Yield precision by a property: of the errors and warnings when they were judged, and of those that
    are still reported as such."""
    key = GROUPS[by]
    then, now = defaultdict(list), defaultdict(list)
    with_infos = by in ("severity", "confidence")
    for finding in findings:
        if finding.strong or with_infos:
            then[key(finding)].append(finding)
    for outcome in outcomes:
        if outcome.strong if outcome.judged.strong else with_infos and outcome.status != "gone":
            now[key(outcome.judged)].append(outcome.judged)
    yield f"{by:<28}{'true when judged':>26}" + (f"{'true of what is left':>26}" if outcomes else "")
    for name in sorted(then):
        yield f"{name:<28}{share(then[name]):>26}" + (f"{share(now[name]):>26}" if outcomes else "")


def summary(compared: Compared) -> Iterator[str]:
    """Yield what became of the judged findings, in totals."""
    outcomes = compared.outcomes
    strong = [o for o in outcomes if o.judged.strong]
    left = [o.judged for o in strong if o.strong]
    yield f"errors and warnings judged: {share([o.judged for o in strong])} true"
    yield f"- still errors or warnings: {share(left)} true"
    for verdict in VERDICTS:
        rows = [o for o in strong if o.judged.verdict == verdict]
        counts = Counter(o.status for o in rows)
        yield f"  {verdict:<11}{len(rows):>4}: " + (", ".join(f"{n} {s}" for s, n in counts.items()) or "-")
    if problems := compared.problems:
        yield f"could not be checked: {len(problems)}"
        yield from (f"  {problem}" for problem in problems)


def agreement(findings: Sequence[Judged]) -> str:
    """Return how far the two readers agree, in words."""
    both = [f for f in findings if f.second and f.verdict]
    pairs = [(str(f.verdict), str(f.second)) for f in both]
    if not pairs:
        return "second readings: none"
    useful = [(one == "true", two == "true") for one, two in pairs]
    binary = [(str(one), str(two)) for one, two in useful]
    return (
        f"second readings: {len(pairs)}, agreement {raw(pairs):.2f}, kappa {_number(kappa(pairs))};"
        f" true or not: agreement {raw(binary):.2f}, kappa {_number(kappa(binary))}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
