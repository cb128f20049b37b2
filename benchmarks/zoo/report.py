"""A score as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from benchmarks.intervals import percent, wilson
from benchmarks.zoo.compare import Precision, Recall, Score, Totals
from benchmarks.zoo.observed import Failed


def as_json(score: Score, cases: Mapping[str, int]) -> dict[str, Any]:
    """Return what a program reads: counts, shares with 95 % intervals, and the cases of dev."""
    totals = asdict(score.totals)
    for name, recall in score.totals.recall.items():
        totals["recall"][name]["share"] = wilson(recall.found, recall.observed)
    for part in ("precision", "by_mechanism"):
        for name, precision in getattr(score.totals, part).items():
            totals[part][name]["share"] = wilson(precision.right, precision.right + precision.wrong)
    return {
        "cases": dict(cases),
        **totals,
        "misses": [asdict(miss) for miss in score.misses],
        "refuted": [{"file": one.file, **asdict(one.prediction)} for one in score.refuted],
        "failures": [
            {"package": f.package.requirement, "case": f.case, **asdict(f.error)} for f in score.failures
        ],
    }


def as_text(score: Score, cases: Mapping[str, int]) -> Iterator[str]:
    totals = score.totals
    yield "cases: " + ", ".join(f"{n} {status}" for status, n in sorted(cases.items()))
    yield (
        f"{totals.lines:,} lines of {totals.files:,} files ran in at least 4 steps; "
        f"{totals.event_lines:,} of them had an event in at least 3"
    )
    yield f"{totals.failures} cases raise on XLA alone, {totals.unplaced_failures} of them on no line"
    yield f"{totals.artefacts} lines fall back on the CPU client only and are left out"
    yield from _recall(totals)
    yield from _precision(totals)


def details(score: Score) -> Iterator[str]:
    """Name each miss, each refuted finding and each failure."""
    for miss in sorted(score.misses, key=lambda m: (m.kind, m.file, m.row)):
        hint = "possible" if miss.hinted else "nothing"
        yield f"missed {miss.kind}: {miss.file}:{miss.row}: {miss.detail} ({hint} reported)"
    for one in sorted(score.refuted, key=lambda r: (r.prediction.code, r.file, r.prediction.span)):
        p = one.prediction
        yield f"not observed: {one.file}:{p.span[0]}: {p.code} {p.confidence} {p.severity}: {p.message}"
    for failed in score.failures:
        yield f"raises: {_failure(failed)}"


def _failure(failed: Failed) -> str:
    error = failed.error
    place = f"{error.file}:{error.row}" if error.file else "no line of a package"
    return f"{failed.package.name}: {failed.case}: {error.type}: {error.message} ({place})"


def _recall(totals: Totals) -> Iterator[str]:
    yield f"{'recall':24}{'observed':>9}{'found':>7}{'possible':>9}  share (95 %)"
    known = [*totals.recall.items(), ("all", _sum(totals.recall))]
    for name, recall in known:
        share = percent(recall.found, recall.observed)
        yield f"  {name:22}{recall.observed:>9}{recall.found:>7}{recall.hinted:>9}  {share}"


def _sum(recalls: Mapping[str, Recall]) -> Recall:
    values = recalls.values()
    return Recall(
        sum(r.observed for r in values), sum(r.found for r in values), sum(r.hinted for r in values)
    )


def _precision(totals: Totals) -> Iterator[str]:
    for title, counts in (("precision", totals.precision), ("by mechanism", totals.by_mechanism)):
        yield f"{title:24}{'right':>9}{'wrong':>7}{'seldom':>9}  share (95 %)"
        for name, one in sorted(counts.items()):
            yield f"  {name:22}{one.right:>9}{one.wrong:>7}{one.seldom:>9}  {_share(one)}"
    yield f"{totals.unreached} findings stand on code that did not run in 4 steps"
    yield f"{totals.undecided} say that a line recompiles where each case recompiles for another line"


def _share(one: Precision) -> str:
    return percent(one.right, one.right + one.wrong)
