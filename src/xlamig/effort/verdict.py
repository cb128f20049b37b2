"""One word for the whole: the first line below that fits.

blocked   an error at level unknown or rearchitect for which no fix and no alternative is known
hard      work at level redesign or above, or more than `hard-days` of work
moderate  more than `moderate-days` of work
easy      some work
ready     none
nothing   no use of PyTorch or CUDA was found, so there is nothing to port

What is only possible blocks nothing and makes nothing hard. Redesigns that only sampling or evaluation of
a program that trains needs are named beside the verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xlamig.config.settings import EffortSettings
from xlamig.effort.classes import names_torch
from xlamig.effort.model import BLOCKING, LARGE
from xlamig.effort.plan import Hours, Verdict
from xlamig.effort.sites import Site
from xlamig.findings import Finding, Report


def uses_torch(report: Report) -> bool:
    """Return whether anything of PyTorch or CUDA was found in the program."""
    return any(
        file.findings or file.sites or file.on_xla or any(map(names_torch, file.parts))
        for file in report.files
    )


def judge(
    sites: Sequence[Site],
    hours: Hours,
    settings: EffortSettings,
    found: bool = True,
    beside: Collection[tuple[str, int, str]] = (),
    unread: int = 0,
) -> tuple[Verdict, str]:
    """The verdict and the reason for it. `found` says whether the program uses PyTorch at all, `beside`
    are findings that its training does without, by file, offset and code; `unread` files could not be
    read."""
    later = sorted(
        {
            _name_rule(site.finding)
            for site in sites
            if site.finding.confidence != "possible" and _key(site.finding) in beside
        }
    )
    own = [site for site in sites if _key(site.finding) not in beside]
    verdict, reason = _judge(own, hours, settings, found)
    if later and verdict not in ("hard", "blocked"):
        reason += f"; sampling or evaluation: {_codes(later)} {_needs(later)} a redesign"
    if unread:
        reason += f"; {unread} file{'s' if unread > 1 else ''} could not be read and may need more"
    return verdict, reason


def _judge(sites: Sequence[Site], hours: Hours, settings: EffortSettings, found: bool) -> tuple[Verdict, str]:
    if not found:
        return "nothing", "no use of PyTorch or CUDA was found, so there is nothing to port"
    likely = [site.finding for site in sites if site.finding.confidence != "possible"]
    blockers = [
        _name_rule(finding)
        for finding in likely
        if finding.severity == "error"
        and finding.effort.level in BLOCKING
        and not finding.help
        and not finding.fix
    ]
    large = [_name_rule(finding) for finding in likely if finding.effort.level in LARGE]
    days = hours.likely / settings.hours_per_day
    if blockers:
        return "blocked", f"no alternative is known for {_codes(blockers)}"
    if large:
        return "hard", f"{_codes(large)} {_needs(large)} a redesign"
    limit = _days(settings.moderate_days)
    if days > settings.hard_days:
        return "hard", f"more than {_days(settings.hard_days)} of code changes"
    if days > settings.moderate_days:
        return "moderate", f"more than {limit} of code changes, no redesign"
    if sites:
        return "easy", f"up to {limit} of code changes, no redesign"
    return "ready", "no finding asks for a change"


def _key(finding: Finding) -> tuple[str, int, str]:
    return finding.filename, finding.place.start, finding.code


def _needs(codes: Sequence[str]) -> str:
    return "needs" if len(set(codes)) == 1 else "need"


def _name_rule(finding: Finding) -> str:
    return f"{finding.code} {finding.name}"


def _days(days: float) -> str:
    return f"{days:g} day" if days == 1 else f"{days:g} days"


def _codes(codes: Sequence[str]) -> str:
    distinct = sorted(set(codes))
    return ", ".join(distinct[:3]) + (" and others" if len(distinct) > 3 else "")
