"""The hours that a report's findings ask for: all of a plan that `check` shows."""

from __future__ import annotations

from xlamig.config.settings import EffortSettings
from xlamig.effort.plan import Hours
from xlamig.effort.sides import weigher
from xlamig.effort.sites import distinct, is_optional, is_work
from xlamig.effort.terms import addends, total
from xlamig.findings import Report


def hours_of(report: Report, settings: EffortSettings) -> Hours:
    """Return the hours of the work that is not optional."""
    needed = [finding for finding in report.planned if is_work(finding) and not is_optional(finding)]
    weight_of = weigher([file.filename for file in report.files], settings)
    return total(addends(distinct(needed, weight_of), settings))
