"""A plan as one page for a browser, which loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from xlamig import __version__
from xlamig.effort.model import PHASES
from xlamig.effort.plan import Plan
from xlamig.effort.sites import is_work
from xlamig.findings import SEVERITIES, Finding, Report, rule_url
from xlamig.observations import Spot
from xlamig.report import fit_words, plan_charts, plan_curve, plan_economics, plan_placement, plan_step
from xlamig.report import plan_format as words
from xlamig.report.context import Context, one_line, where
from xlamig.report.counts import count
from xlamig.report.numbers import figure
from xlamig.report.page import environment
from xlamig.report.summary import troubles
from xlamig.report.trace_source import source_lines

_AROUND = 2  # lines on either side of a finding
_MOST_ROWS = 8  # of a finding that goes on and on
_MOST_EXCERPTS = 300
_MOST_CHARACTERS = 400_000  # of a file whose lines are shown


@dataclass(frozen=True, slots=True)
class Excerpt:
    finding: Finding
    at: str
    first: int
    lines: tuple[Markup, ...]


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    boxes, height = plan_charts.picture(plan.stages)
    template = _environment().get_template("plan.html.jinja")
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    yield template.render(
        plan=plan,
        version=__version__,
        words=words,
        placement=plan_placement,
        money=plan_economics,
        steps=plan_step,
        fits=fit_words,
        counts=count(report),
        charts=plan_charts.charts(plan, report),
        layout=plan_charts,
        boxes=boxes,
        curve=plan_curve.curve(plan.history),
        picture_height=height,
        phases=PHASES,
        severities=SEVERITIES,
        excerpts=list(_excerpts(report, context)),
        left_out=max(0, len(report.findings) - _MOST_EXCERPTS),
        troubles=list(troubles(report)),
        explain=explain,
        script=Markup(script),  # ours, and no `<` of a report in it
        digest=digest,
    )


@cache
def _script() -> str:
    return files("xlamig.report").joinpath("templates", "plan.js").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    made = environment()
    made.filters |= {"span": words.span, "check": words.check, "places": words.places, "line": one_line}
    made.filters |= {"figure": figure, "url": rule_url}
    return made


def _excerpts(report: Report, context: Context) -> Iterator[Excerpt]:
    """The findings, most serious first, with the lines around each."""
    ranked = sorted(report.findings, key=lambda one: (SEVERITIES.index(one.severity), not is_work(one)))
    shown = ranked[:_MOST_EXCERPTS]
    spots: dict[str, list[Spot]] = {}
    lines: dict[str, list[Markup]] = {}
    for filename in dict.fromkeys(finding.filename for finding in shown):
        text = context.text_of(filename) or ""
        spots[filename] = [_spot(finding, text) for finding in shown if finding.filename == filename]
        small = 0 < len(text) <= _MOST_CHARACTERS
        lines[filename] = source_lines(text, spots[filename]) if small else []
    for finding in shown:
        spot = spots[finding.filename].pop(0)
        first = max(1, spot.row - _AROUND)
        last = min(spot.end_row, spot.row + _MOST_ROWS) + _AROUND
        yield Excerpt(finding, where(finding), first, tuple(lines[finding.filename][first - 1 : last]))


def _spot(finding: Finding, text: str) -> Spot:
    """By offsets, which are those of the text also in a notebook, whose rows are a cell's."""
    start, end = (min(offset, len(text)) for offset in (finding.place.start, finding.place.end))
    row, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    column, beyond = (offset - (text.rfind("\n", 0, offset) + 1) + 1 for offset in (start, end))
    return Spot(finding.filename, row, column, last, beyond)
