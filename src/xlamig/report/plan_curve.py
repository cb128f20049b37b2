"""The burn-down of a plan's page, as points in user units of an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlamig.effort.plan import Point
from xlamig.report.context import one_line
from xlamig.report.numbers import figure
from xlamig.report.plan_format import span

_WIDTH, _HEIGHT, _LEFT, _FOOT = 900, 240, 60, 20


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Curve:
    band: str
    likely: str
    dots: tuple[Dot, ...]
    most: str
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    bottom: int = _HEIGHT - _FOOT


def curve(history: Sequence[Point]) -> Curve:
    """Commits evenly apart, hours upwards from 0."""
    most = max((point.hours.high for point in history), default=0) or 1
    step = (_WIDTH - _LEFT - 8) / max(1, len(history) - 1)
    bottom = _HEIGHT - _FOOT

    def at(place: int, hours: float) -> tuple[float, float]:
        return round(_LEFT + 4 + step * place, 1), round(bottom - (bottom - 8) * hours / most, 1)

    likely = [at(place, point.hours.likely) for place, point in enumerate(history)]
    high = [at(place, point.hours.high) for place, point in enumerate(history)]
    low = [at(place, point.hours.low) for place, point in enumerate(history)]
    dots = tuple(Dot(x, y, _describe_point(point)) for (x, y), point in zip(likely, history, strict=True))
    return Curve(_join_points([*high, *low[::-1]]), _join_points(likely), dots, f"{figure(most)} h")


def _join_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _describe_point(point: Point) -> str:
    hours = f"estimate {span(point.hours)}, likely {figure(point.hours.likely)} h"
    return f"{point.date} {point.revision} {one_line(point.subject)}: {hours}"
