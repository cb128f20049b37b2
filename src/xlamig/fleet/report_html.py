"""A fleet as one page for a browser, which loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log10

from jinja2 import Environment
from markupsafe import Markup

from xlamig import __version__
from xlamig.findings import rule_url
from xlamig.fleet.diff_text import counts
from xlamig.fleet.ranking import Ranked
from xlamig.fleet.report_text import hours_of
from xlamig.fleet.summary import Summary
from xlamig.report.numbers import between, figure
from xlamig.report.page import environment
from xlamig.report.plan_economics import amount

WIDTH, HEIGHT, MARGIN = 704, 320, 16
_MOST_DOTS = 400


@dataclass(frozen=True, slots=True)
class Dot:
    """A repository in the picture: hours of work to the right, saving upwards, both by logarithm."""

    x: float
    y: float
    label: str


def render(summary: Summary) -> str:
    script = files("xlamig.report").joinpath("templates", "plan.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _environment().get_template("fleet.html.jinja").render(
        s=summary,
        version=__version__,
        hours_of=hours_of,
        counts=counts,
        dots=dots(summary.ranked, summary.currency),
        reach=reach(summary.ranked),
        layout={"width": WIDTH, "height": HEIGHT, "margin": MARGIN},
        script=Markup(script),  # ours, and no `<` of a report in it
        digest=digest,
    )  # fmt: skip


@cache
def _environment() -> Environment:
    made = environment()
    made.filters |= {"figure": figure, "amount": amount, "url": rule_url, "between": between_of}
    return made


def between_of(one: Ranked) -> str:
    return between(one.low_hours, one.high_hours)


def _shown_repositories(ranked: list[Ranked]) -> list[tuple[Ranked, float]]:
    """The repositories that save something, with what; the first of the ranking if there are many."""
    saving = [(one, one.saving.saved.likely) for one in ranked if one.saving]
    return [(one, money) for one, money in saving if money > 0][:_MOST_DOTS]


def dots(ranked: list[Ranked], currency: str) -> list[Dot]:
    """The picture of what the work saves."""
    shown = _shown_repositories(ranked)
    hours, money = [one.likely_hours for one, _ in shown], [value for _, value in shown]
    return [
        Dot(
            _place_on_axis(one.likely_hours, hours, 2 * MARGIN, WIDTH - 2 * MARGIN),
            _place_on_axis(value, money, HEIGHT - 3 * MARGIN, 3 * MARGIN),
            f"{one.name}: {figure(one.likely_hours)} h, saves {amount(value)} {currency}",
        )
        for one, value in shown
    ]


def reach(ranked: list[Ranked]) -> dict[str, str]:
    """Return the ranges of the picture's axes."""
    shown = _shown_repositories(ranked)
    if not shown:
        return {}
    hours, money = [one.likely_hours for one, _ in shown], [value for _, value in shown]
    return {
        "hours": f"{figure(min(hours))} to {figure(max(hours))}",
        "money": f"{amount(min(money))} to {amount(max(money))}",
    }


def _place_on_axis(value: float, among: list[float], first: float, last: float) -> float:
    """Between the two, by the logarithm of the value among all."""
    low, high = log10(min(among)), log10(max(among))
    share = (log10(value) - low) / (high - low) if high > low else 0.5
    return first + share * (last - first)
