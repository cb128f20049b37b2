"""The charts of a plan's page, as data: places and sizes in user units of an SVG."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from xlamig.effort.model import FAMILIES
from xlamig.effort.placement import Stage
from xlamig.effort.plan import Plan
from xlamig.findings import SEVERITIES, Report
from xlamig.report.context import one_line
from xlamig.report.numbers import figure, number, percent, percentages
from xlamig.report.plan_format import span

WIDTH, LABEL, ROW, BAR = 560, 190, 24, 14
_PLOT = WIDTH - LABEL - 90  # what is left for bars, beside their values
_MOST_FILES = 12
_LETTERS = 25  # of a label


@dataclass(frozen=True, slots=True)
class Segment:
    x: float
    width: float
    ink: str
    title: str


@dataclass(frozen=True, slots=True)
class Bar:
    """`low` and `high` are where a range begins and ends, None where there is none."""

    label: str
    y: int
    segments: tuple[Segment, ...]
    value: str
    end: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    bars: tuple[Bar, ...]
    legend: tuple[tuple[str, str], ...] = ()

    @property
    def height(self) -> int:
        return ROW * len(self.bars) + 4


def charts(plan: Plan, report: Report) -> tuple[Chart, ...]:
    """Effort by phase and by file, severity by family, coverage; those that have something to show."""
    made = (_phases(plan), _files(plan), _severities(report), _coverage(plan))
    return tuple(chart for chart in made if chart.bars)


def _phases(plan: Plan) -> Chart:
    phases = [phase for phase in plan.phases if phase.hours.likely]
    most = max((phase.hours.high for phase in phases), default=1)
    bars = []
    for place, phase in enumerate(phases):
        low, likely, high = (
            _PLOT * part / most for part in (phase.hours.low, phase.hours.likely, phase.hours.high)
        )
        said = f"{phase.title}: estimate {span(phase.hours)}, likely {figure(phase.hours.likely)} h"
        segment = Segment(LABEL, likely, phase.phase, said)
        value = span(phase.hours)
        bars.append(Bar(phase.title, ROW * place, (segment,), value, LABEL + high, LABEL + low, LABEL + high))
    return Chart("Effort by phase: likely, and the range of the estimate", tuple(bars))


def _files(plan: Plan) -> Chart:
    """The hours of each item in equal parts by file: where the work is, roughly."""
    hours: dict[str, float] = defaultdict(float)
    for phase in plan.phases:
        for item in phase.items:
            for filename in item.filenames:
                hours[filename] += item.hours.likely / len(item.filenames)
    everything = sum(hours.values()) or 1
    ranked = sorted(hours.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_FILES]
    most = max((value for _, value in ranked), default=0) or 1
    bars = tuple(
        _file(place, name, value / most, percent(value / everything))
        for place, (name, value) in enumerate(ranked)
        if value
    )
    more = len(hours) - len(ranked)
    return Chart("Share of the estimate by file" + (f" ({more} more)" if more > 0 else ""), bars)


def _severities(report: Report) -> Chart:
    counts = Counter((finding.code[:-2], finding.severity) for finding in report.findings)
    families = [prefix for prefix in FAMILIES if any(counts[prefix, severity] for severity in SEVERITIES)]
    most = max((sum(counts[prefix, severity] for severity in SEVERITIES) for prefix in families), default=1)
    bars = []
    for place, prefix in enumerate(families):
        parts = [(severity, counts[prefix, severity]) for severity in SEVERITIES if counts[prefix, severity]]
        total = sum(count for _, count in parts)
        pairs = [(count / most, severity, number(count, severity)) for severity, count in parts]
        bars.append(_stack_bars(_short(FAMILIES[prefix]), place, pairs, str(total)))
    legend = tuple((severity, severity) for severity in SEVERITIES)
    return Chart("Findings by family and severity", tuple(bars), legend)


def _coverage(plan: Plan) -> Chart:
    counts = plan.coverage
    if not counts.sites:
        return Chart("", ())
    parts = (
        (counts.unchanged, "well", "need no change"),
        (counts.fixable, "info", "fixed by --fix"),
        (counts.unsafe_fixable, "warning", "fixed by --unsafe-fixes"),
        (counts.manual, "error", "by hand"),
    )
    shares = percentages([part for part, _, _ in parts])
    pairs = [
        (part / counts.sites, ink, f"{share} {words}")
        for (part, ink, words), share in zip(parts, shares, strict=True)
        if part
    ]
    bar = _stack_bars("sites", 0, pairs, str(counts.sites))
    return Chart(
        "Coverage of the uses of CUDA and PyTorch", (bar,), tuple((ink, said) for _, ink, said in pairs)
    )


def _file(place: int, name: str, length: float, share: str) -> Bar:
    segment = Segment(LABEL, _PLOT * length, "file", f"{one_line(name)}: {share} of the estimate")
    return Bar(_short(name), ROW * place, (segment,), share, LABEL + _PLOT * length)


def _stack_bars(label: str, place: int, parts: Sequence[tuple[float, str, str]], value: str) -> Bar:
    x = float(LABEL)
    segments = []
    for share, ink, title in parts:
        segments.append(Segment(x, _PLOT * share, ink, title))
        x += _PLOT * share
    return Bar(label, ROW * place, tuple(segments), value, x)


def _short(name: str) -> str:
    """The last folders and the name of a path, the beginning of anything else."""
    name = one_line(name)
    if len(name) <= _LETTERS:
        return name
    parts = name.split("/")
    ends = (f"…/{'/'.join(parts[first:])}" for first in range(1, len(parts)))
    return next((end for end in ends if len(end) <= _LETTERS), f"{parts[-1][: _LETTERS - 1]}…")


@dataclass(frozen=True, slots=True)
class Box:
    x: int
    y: int
    stage: Stage


BOX_WIDTH, BOX_HEIGHT, GAP, COLUMNS = 200, 52, 34, 4


def picture(stages: Sequence[Stage]) -> tuple[tuple[Box, ...], int]:
    """The stages in the order data takes, four in a row, and the height of it all."""
    boxes = tuple(
        Box((BOX_WIDTH + GAP) * (place % COLUMNS), (BOX_HEIGHT + GAP) * (place // COLUMNS), stage)
        for place, stage in enumerate(stages)
    )
    return boxes, max((box.y for box in boxes), default=0) + BOX_HEIGHT + 4
