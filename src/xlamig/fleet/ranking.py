"""Which repository first: what each costs to port, and what that saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xlamig.effort.comparison import Money, Question
from xlamig.effort.economics import weigh
from xlamig.fleet.query import Fleet
from xlamig.knowledge.hardware import Hardware

_COLUMNS = """name, verdict, low_hours, likely_hours, high_hours, after_fix_hours, lines_to_change, findings,
  gpu, gpu_hours"""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a saving. `hourly_rate` is what an hour of the work costs."""

    hardware: Hardware
    tpus: tuple[str, ...]
    prices: Mapping[str, float]
    hourly_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Saving:
    """On the TPU that saves most, in the time that the GPU hours are of; `migration` is what the work
    costs, once."""

    tpu: str
    saved: Money
    migration: Money | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """`saving` is None where no GPU hours were given."""

    name: str
    verdict: str
    low_hours: float
    likely_hours: float
    high_hours: float
    after_fix_hours: float
    lines_to_change: int
    findings: int
    gpu: str
    gpu_hours: float | None
    saving: Saving | None = None

    @property
    def whole(self) -> tuple[float, float, float]:
        return self.low_hours, self.likely_hours, self.high_hours

    @property
    def per_hour(self) -> float | None:
        """Return the saving per hour of work."""
        if self.saving is None:
            return None
        return self.saving.saved.likely / self.likely_hours if self.likely_hours else 0.0


def rank(fleet: Fleet, terms: Terms) -> list[Ranked]:
    """Repositories with something to port, those that save most for an hour of work first; those without
    GPU hours follow, least work first; what saves nothing is last.

    Raises:
        NoFigure: an accelerator or its price is in no table.
    """
    rows = fleet.rows(f"SELECT {_COLUMNS} FROM repositories WHERE status = 'ok' AND verdict <> 'nothing'")
    found = [_with_saving(Ranked(*row), terms) for row in rows]
    return sorted(found, key=_key)


def _with_saving(one: Ranked, terms: Terms) -> Ranked:
    if not one.gpu_hours:
        return one
    question = Question(
        one.gpu, 1, one.gpu_hours, terms.tpus, prices=terms.prices, hourly_rate=terms.hourly_rate
    )
    weighed = weigh(question, one, terms.hardware)
    best = max(weighed.options, key=lambda option: option.saved.likely)
    return replace(one, saving=Saving(best.tpu.name, best.saved, weighed.migration))


def _key(one: Ranked) -> tuple[int, float, str]:
    per_hour = one.per_hour
    if per_hour is None:
        return 1, one.likely_hours, one.name
    return (0, -per_hour, one.name) if per_hour > 0 else (2, -per_hour, one.name)


def assumptions(ranked: Sequence[Ranked], terms: Terms) -> list[str]:
    """Return the assumptions behind the savings."""
    if not any(one.saving for one in ranked):
        return []
    one = next(one for one in ranked if one.saving)
    question = Question(one.gpu, 1, one.gpu_hours or 1, terms.tpus, prices=terms.prices,
                        hourly_rate=terms.hourly_rate)  # fmt: skip
    said = weigh(question, one, terms.hardware).assumptions
    return [line for line in said if not line.startswith(("the job", "no break-even"))]
