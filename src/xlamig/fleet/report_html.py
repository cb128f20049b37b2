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
from xlamig.fleet.summary import VERDICTS, Summary
from xlamig.report.numbers import between, figure
from xlamig.report.page import environment
from xlamig.report.plan_money import amount

WIDTH, HEIGHT, MARGIN = 640, 300, 56
_MOST_DOTS = 400


@dataclass(frozen=True, slots=True)
class Dot:
    """A repository in the picture: hours of work to the right, saving upwards, both by logarithm."""

    x: float
    y: float
    label: str
    verdict: str


def render(summary: Summary) -> str:
    script = files("xlamig.report").joinpath("templates", "plan.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _environment().get_template("fleet.html.jinja").render(
        s=summary,
        version=__version__,
        hours_of=hours_of,
        counts=counts,
        verdicts=VERDICTS,
        dots=dots(summary.ranked, summary.currency),
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


def dots(ranked: list[Ranked], currency: str) -> list[Dot]:
    """The repositories that save something, the first of the ranking at most."""
    saving = [one for one in ranked if (one.per_hour or 0) > 0][:_MOST_DOTS]
    hours = [one.likely_hours for one in saving]
    money = [one.saving.saved.likely for one in saving if one.saving]
    return [
        Dot(
            _placed(one.likely_hours, hours, MARGIN, WIDTH - MARGIN),
            _placed(value, money, HEIGHT - MARGIN / 2, MARGIN / 2),
            f"{one.name}: {figure(one.likely_hours)} h, saves {amount(value)} {currency}",
            one.verdict,
        )
        for one, value in zip(saving, money, strict=True)
    ]


def _placed(value: float, among: list[float], first: float, last: float) -> float:
    """Between the two, by the logarithm of the value among all."""
    low, high = log10(min(among)), log10(max(among))
    share = (log10(value) - low) / (high - low) if high > low else 0.5
    return first + share * (last - first)
