"""All that a report says of a fleet, whatever its format."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from xlamig import __version__
from xlamig.fleet import log
from xlamig.fleet.blockers import Blockers, blockers, providers
from xlamig.fleet.diff import Difference, compare
from xlamig.fleet.query import Fleet
from xlamig.fleet.ranking import Ranked, Terms, assumptions, rank
from xlamig.fleet.schema import SCHEMA_VERSION
from xlamig.fleet.waves import Wave, waves

_TOTALS = """
SELECT count(*) FILTER (status = 'ok') AS scanned, count(*) FILTER (verdict = 'nothing') AS nothing,
  coalesce(sum(lines), 0)::BIGINT AS lines, coalesce(sum(findings), 0)::BIGINT AS findings,
  coalesce(sum(low_hours), 0) AS low_hours, coalesce(sum(likely_hours), 0) AS likely_hours,
  coalesce(sum(high_hours), 0) AS high_hours, coalesce(sum(after_fix_hours), 0) AS after_fix_hours
FROM repositories
"""
_FAILED = "SELECT name, status, error FROM repositories WHERE status <> 'ok' ORDER BY name"
_TREND = """
SELECT scan_date::VARCHAR AS date, count(*) FILTER (status = 'ok') AS scanned,
  coalesce(sum(likely_hours), 0) AS hours, coalesce(sum(findings), 0)::BIGINT AS findings
FROM history.repositories WHERE scan_date <= ?::DATE GROUP BY scan_date ORDER BY scan_date
"""
VERDICTS = ("ready", "easy", "moderate", "hard", "blocked", "nothing")


@dataclass(frozen=True, slots=True)
class Summary:
    """`missing` were asked for and have no row. `change` is what the scan before had otherwise."""

    date: str
    currency: str
    totals: dict[str, Any]
    verdicts: dict[str, int]
    failed: list[dict[str, Any]]
    missing: list[str]
    ranked: list[Ranked]
    blockers: Blockers
    waves: list[Wave]
    wave_hours: float
    trend: list[dict[str, Any]]
    change: Difference | None
    assumptions: list[str]

    def document(self) -> dict[str, Any]:
        """For JSON: keys are added, never renamed."""
        return {"schema_version": SCHEMA_VERSION, "tool_version": __version__, **asdict(self)}


def summarise(fleet: Fleet, terms: Terms, wave_hours: float) -> Summary:
    """Raises NoFigure as `rank`."""
    ranked = rank(fleet, terms)
    before = fleet.before()
    (totals,) = fleet.records(_TOTALS)
    counted = dict(fleet.rows("SELECT verdict, count(*) FROM repositories WHERE status = 'ok' GROUP BY 1"))
    there = {name for (name,) in fleet.rows("SELECT name FROM repositories")}
    return Summary(
        date=fleet.date,
        currency=terms.hardware.currency,
        totals=totals,
        verdicts={verdict: counted[verdict] for verdict in VERDICTS if verdict in counted},
        failed=fleet.records(_FAILED),
        missing=[name for name in log.asked_for(fleet.out, fleet.date) if name not in there],
        ranked=ranked,
        blockers=blockers(fleet),
        waves=waves(ranked, providers(fleet), wave_hours),
        wave_hours=wave_hours,
        trend=fleet.records(_TREND, fleet.date),
        change=compare(Fleet(fleet.out, before), fleet) if before else None,
        assumptions=assumptions(ranked, terms),
    )
