"""A fleet for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.fleet.diff_text import counts
from xlamig.fleet.ranking import Ranked
from xlamig.fleet.summary import Summary
from xlamig.report.numbers import between, figure, number
from xlamig.report.plan_economics import amount

_MOST = 20
_NAMES = 6  # of repositories on one line


def render(summary: Summary) -> Iterator[str]:
    """Lines of text; the page and JSON have every repository."""
    yield from _head(summary)
    yield from _ranking(summary)
    yield from _blocking(summary)
    yield from _programme(summary)
    yield from _trend(summary)
    yield from (f"assumed: {line}" for line in summary.assumptions)


def _head(summary: Summary) -> Iterator[str]:
    totals = summary.totals
    scanned = "1 repository" if totals["scanned"] == 1 else f"{totals['scanned']} repositories"
    yield f"Scan of {summary.date}: {scanned}, {totals['lines']:,} lines, {totals['findings']:,} findings"
    yield f"Estimate {hours_of(totals)}; uncalibrated"
    yield "Verdicts: " + ", ".join(f"{count} {verdict}" for verdict, count in summary.verdicts.items())
    for one in summary.failed:
        yield f"Failed: {one['name']}: {one['error']}"
    if summary.missing:
        yield f"Not scanned yet: {_some(summary.missing)}"


def hours_of(totals: dict[str, float]) -> str:
    """All hours of a fleet in a phrase."""
    span = between(totals["low_hours"], totals["high_hours"])
    likely, left = figure(totals["likely_hours"]), figure(totals["after_fix_hours"])
    return f"{span} h in all, likely {likely} h, {left} h after --fix"


def _ranking(summary: Summary) -> Iterator[str]:
    if not summary.ranked:
        return
    by_saving = any(one.saving for one in summary.ranked)
    yield ""
    yield "Recommended order" + (
        ": most saved for an hour of work" if by_saving else ": least work (no gpu_hours were given)"
    )
    shown = summary.ranked[:_MOST]
    width = max(len(one.name) for one in shown)
    for place, one in enumerate(shown, 1):
        work = f"{one.verdict:<8}  {figure(one.likely_hours):>6} h"
        yield f"{place:>4}  {one.name:<{width}}  {work}{saved(one, summary.currency)}"
    yield from _more(summary.ranked)


def saved(one: Ranked, currency: str) -> str:
    """The saving of a repository in words."""
    if one.saving is None:
        return ""
    likely = one.saving.saved.likely
    what = f"saves {amount(likely)}" if likely > 0 else f"costs {amount(-likely)} more"
    return f"  {what} {currency} on {one.saving.tpu}"


def _more(everything: Sequence[object]) -> Iterator[str]:
    if len(everything) > _MOST:
        yield f"      and {len(everything) - _MOST} more: the page and JSON have them"


def _blocking(summary: Summary) -> Iterator[str]:
    found = summary.blockers
    for title, lines in (
        ("What most repositories need changed", [_rule(one) for one in found.rules]),
        ("Blocking packages: what one fix of each would save", [_package(one) for one in found.packages]),
        ("Shared repositories: fix these once", [_shared_lines(one) for one in found.shared]),
        ("Operators and APIs", [_operator(one) for one in found.operators]),
        ("Kernels", [_kernel(one) for one in found.kernels]),
    ):
        if lines:
            yield ""
            yield title
            yield from (f"  {line}" for line in lines[:10])


def _in(one: dict[str, object]) -> str:
    count = one["repositories"]
    return "1 repository" if count == 1 else f"{count} repositories"


def _rule(one: dict[str, object]) -> str:
    return f"{one['code']} {one['name']}: {_in(one)}, {figure(float(str(one['hours'])))} h"


def _package(one: dict[str, object]) -> str:
    better = f", a better verdict for {one['better']}" if one["better"] else ""
    return f"{one['package']}: {_in(one)}, {figure(float(str(one['hours'])))} h{better}"


def _shared_lines(one: dict[str, object]) -> str:
    users = one["users"]
    assert isinstance(users, list)
    hours = figure(float(str(one["hours"])))
    return f"{one['provider']} ({one['verdict']}, {hours} h): required by {_some(users)}"


def _operator(one: dict[str, object]) -> str:
    return f"{one['subject']} ({one['code']}): {_in(one)}, {number(int(str(one['places'])), 'place')}"


def _kernel(one: dict[str, object]) -> str:
    return f"{one['kernel']} ({one['kind']}): {_in(one)}, {number(int(str(one['lines'])), 'line')}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")


def _programme(summary: Summary) -> Iterator[str]:
    if not summary.waves:
        return
    yield ""
    yield f"Waves of at most {figure(summary.wave_hours)} h"
    for wave in summary.waves[:_MOST]:
        money = f", saves {amount(wave.saved)} {summary.currency}" if wave.saved else ""
        yield f"  {wave.number}. {figure(wave.hours)} h{money}: {_some(wave.repositories)}"
    yield from _more(summary.waves)


def _trend(summary: Summary) -> Iterator[str]:
    if summary.change is None:
        return
    yield ""
    yield "Scans"
    for point in summary.trend:
        left = f"{figure(point['hours'])} h, {point['findings']:,} findings"
        yield f"  {point['date']}: {point['scanned']} scanned, {left}"
    yield f"  since the previous scan: {counts(summary.change)}"
