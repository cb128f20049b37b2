"""One word for the whole: the first line below that fits.

blocked   an error at level unknown or rearchitect for which no fix and no alternative is known
hard      work at level redesign or above, or more than HARD_DAYS of work
moderate  more than MODERATE_DAYS of work
easy      some work
ready     none

What is only possible blocks nothing and makes nothing hard.
"""

from __future__ import annotations

from collections.abc import Sequence

from xlamig.effort.model import BLOCKING, HARD_DAYS, LARGE, MODERATE_DAYS
from xlamig.effort.plan import Hours, Verdict
from xlamig.effort.sites import Site


def judge(sites: Sequence[Site], hours: Hours, hours_per_day: float) -> tuple[Verdict, str]:
    """The verdict and the reason for it."""
    likely = [site.finding for site in sites if site.finding.confidence != "possible"]
    blockers = [
        finding.code
        for finding in likely
        if finding.severity == "error"
        and finding.effort.level in BLOCKING
        and not finding.help
        and not finding.fix
    ]
    large = [finding.code for finding in likely if finding.effort.level in LARGE]
    days = hours.likely / hours_per_day
    if blockers:
        return "blocked", f"no alternative is known for {_codes(blockers)}"
    if large:
        return "hard", f"{_codes(large)} needs a redesign"
    if days > HARD_DAYS:
        return "hard", f"more than {HARD_DAYS:g} days of work"
    if days > MODERATE_DAYS:
        return "moderate", f"more than {MODERATE_DAYS:g} day of work, no redesign"
    if sites:
        return "easy", f"up to {MODERATE_DAYS:g} day of work, no redesign"
    return "ready", "no finding asks for a change"


def _codes(codes: Sequence[str]) -> str:
    distinct = sorted(set(codes))
    return ", ".join(distinct[:3]) + (" and others" if len(distinct) > 3 else "")
